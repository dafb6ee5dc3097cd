/* Szymanski's lock, each test of all the others one step: the steps of examples/szymanski.pw, one transition each.
   At most 8 processes; the benchmark uses -DN=6. */
#ifndef N
#define N 6
#endif

#define OUTSIDE  0
#define STANDING 1
#define ROOM     2
#define DOORWAY  3
#define INNER    4

byte at[N];

#define OPEN(k)    (at[k] != DOORWAY && at[k] != INNER)
#define STANDS(k)  (at[k] == STANDING)
#define INSIDE(k)  (at[k] == INNER)
#define LOWER(k)   (k >= _pid || at[k] == OUTSIDE || at[k] == STANDING)
#define HIGHER(k)  (k <= _pid || (at[k] != ROOM && at[k] != DOORWAY))

#if N == 2
#define FOLD(op, test) (test(0) op test(1))
#elif N == 3
#define FOLD(op, test) (test(0) op test(1) op test(2))
#elif N == 4
#define FOLD(op, test) (test(0) op test(1) op test(2) op test(3))
#elif N == 5
#define FOLD(op, test) (test(0) op test(1) op test(2) op test(3) op test(4))
#elif N == 6
#define FOLD(op, test) (test(0) op test(1) op test(2) op test(3) op test(4) op test(5))
#elif N == 7
#define FOLD(op, test) (test(0) op test(1) op test(2) op test(3) op test(4) op test(5) op test(6))
#elif N == 8
#define FOLD(op, test) (test(0) op test(1) op test(2) op test(3) op test(4) op test(5) op test(6) op test(7))
#endif

active [N] proctype P()
{
    do
    :: skip;                            /* noncrit: idle                            */
       at[_pid] = STANDING;             /* want:    at = standing                   */
       FOLD(&&, OPEN);                  /* door:    await forall k: ...             */
       at[_pid] = DOORWAY;              /* enter:   at = doorway                    */
       if                               /* others:  if exists k: standing           */
       :: FOLD(||, STANDS) ->
          at[_pid] = ROOM;              /* sit:     at = room                       */
          FOLD(||, INSIDE)              /* rest:    await exists k: inner           */
       :: else
       fi;
       at[_pid] = INNER;                /* close:   at = inner                      */
       FOLD(&&, LOWER);                 /* turn:    await forall k < i: ...         */
       skip;                            /* crit:    skip                            */
       FOLD(&&, HIGHER);                /* drain:   await forall k > i: ...         */
       at[_pid] = OUTSIDE               /* leave:   at = outside                    */
    od
}
