byte n;
proctype P() { n++ }
init {
    run P();
    run P()
}
