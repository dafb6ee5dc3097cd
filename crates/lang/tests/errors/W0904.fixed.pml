int x;
active proctype P() { x = 300 }
