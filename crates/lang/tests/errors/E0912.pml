c_code { int n; }
byte x;
active proctype P() { x = 1 }
