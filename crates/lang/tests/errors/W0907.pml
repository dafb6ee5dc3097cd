typedef Message {
    byte kind;
    byte body
}

Message last = 7;

active proctype P() {
    last.kind = 1
}
