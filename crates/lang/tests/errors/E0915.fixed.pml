byte x;
active proctype P() {
    if
    :: x == 1 -> skip
    :: else -> x = 2
    fi
}
