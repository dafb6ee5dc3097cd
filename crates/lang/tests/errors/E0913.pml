byte a[200000];
active proctype P() { a[0] = 1 }
