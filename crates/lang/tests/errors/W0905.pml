chan q = [1] of { byte };
byte x;
active proctype P() {
    if
    :: q?x
    :: else -> skip
    fi
}
