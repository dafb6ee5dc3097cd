byte turn;
active proctype P() { trun = 1 }
