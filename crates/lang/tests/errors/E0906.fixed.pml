byte x;
bool y;
active proctype P() { x = 1; y = true }
