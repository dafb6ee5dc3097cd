chan q = [1] of { byte };
active proctype P() {
    chan c;
    byte n = 1;
    c = n + 0;
    c!1
}
