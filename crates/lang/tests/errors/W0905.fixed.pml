chan q = [1] of { byte };
byte x;
active proctype P() {
    if
    :: nempty(q) -> q?x
    :: empty(q) -> skip
    fi
}
