byte n;
proctype P() { n == 1 }
init {
    run P();
    run P()
}
