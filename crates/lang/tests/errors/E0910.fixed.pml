#define N 3
byte a[N];
active proctype P() { a[0] = 1 }
