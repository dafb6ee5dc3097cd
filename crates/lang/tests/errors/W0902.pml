#define N 3
byte x;
active proctype P() { x = N }
