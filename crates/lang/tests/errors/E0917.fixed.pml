chan q = [1] of { byte };
active proctype P() {
    chan c;
    c = q;
    c!1
}
