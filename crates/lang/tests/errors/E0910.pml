byte n;
byte a[n];
active proctype P() { a[0] = 1 }
