byte n;
proctype P() { n++ }
init {
    do
    :: run P()
    od
}
