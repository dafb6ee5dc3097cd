#ifndef N
#define N 3
#endif
byte x;
active proctype P() { x = N }
