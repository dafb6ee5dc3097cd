byte turn;
active proctype P() { turn = 1 }
