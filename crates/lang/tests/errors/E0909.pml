byte x;
active proctype P() {
again:
    x = 1 - x;
    goto agian
}
