byte x;
active proctype P() {
    if
    :: x == 1 -> skip
    :: x = 2; else -> skip
    fi
}
