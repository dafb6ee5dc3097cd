byte q;
active proctype P() { q!1 }
