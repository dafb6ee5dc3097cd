byte n;
proctype P() { n == 1 }
init {
    do
    :: run P()
    od
}
