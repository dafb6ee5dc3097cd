byte a[200];
active proctype P() { a[0] = 1 }
