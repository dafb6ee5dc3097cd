typedef Message {
    byte kind = 7;
    byte body = 7
}

Message last;

active proctype P() {
    last.kind = 1
}
