byte x;
active proctype P() { x = 1 }
never {
    do
    :: x = 0
    od
}
