byte x;
active proctype P() {
    x = ;
    x = 1
}
