byte x;
active proctype P() {
    x = 0;
    x = 1
}
