byte n = 3;
byte a[n];
active proctype P() { a[0] = 1 }
