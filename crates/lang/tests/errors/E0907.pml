chan q = [1] of { byte, bool };
active proctype P() { q!1,true,2 }
