#defin N 3
byte x;
active proctype P() { x = 3 }
