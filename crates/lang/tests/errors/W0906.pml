byte x;
active proctype P() {
    goto done;
    x = 1;
done:
    skip
}
