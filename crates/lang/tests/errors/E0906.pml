byte x;
bool x;
active proctype P() { x = 1 }
