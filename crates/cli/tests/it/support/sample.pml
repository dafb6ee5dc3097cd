/* Small, and with most of what the language has. */
#define N 2
#define free(x) (x == 0)

mtype = { ask, grant, back };

typedef Slot { byte owner; bool used };

chan rendezvous = [0] of { mtype, byte };
chan queue = [2] of { mtype };
byte inside = 0;
bool lock;
Slot slots[N];

inline enter(me) {
  atomic { !lock -> lock = true; slots[me].owner = me }
  inside++
}

proctype client(byte id) {
  byte k;
  if
  :: rendezvous ! ask, id; queue ? grant
  :: free(inside) -> skip
  fi;
  enter(id);
  assert(inside == 1);
  d_step { inside--; lock = false; slots[id].used = true };
  do
  :: k < N -> k = k + 1; if :: k == 5 -> goto leave :: else fi
  :: k == N -> break
  od;
leave:
  queue ! back
}

proctype server() {
  byte who; mtype m;
end:
  do
  :: rendezvous ? ask, who -> queue ! grant
  :: queue ?? back
  :: nempty(queue) -> queue ? m
  :: timeout -> break
  od
}

init {
  atomic { run server(); run client(0); run client(1) }
}

ltl safe { [] (inside <= 1) }
never { do :: inside > 1 -> break :: else od }
