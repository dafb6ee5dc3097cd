/* Dining philosophers, of whom number 0 takes the forks in the other order: the steps of
   examples/philosophers.pw, one transition each. A fork is free or held by a philosopher, as a lock is
   in Piecewise. The benchmark uses -DN=8 and -DN=10. */
#ifndef N
#define N 8
#endif

#define FREE   N
#define FIRST  (_pid == 0 -> 1 : _pid)
#define SECOND (_pid == 0 -> 0 : (_pid + 1) % N)

byte fork[N] = FREE;

active [N] proctype Phil()
{
    do
    :: skip;                                                     /* think:  idle            */
       d_step { fork[FIRST] == FREE -> fork[FIRST] = _pid };     /* hungry: acquire first   */
       d_step { fork[SECOND] == FREE -> fork[SECOND] = _pid };   /* half:   acquire second  */
       skip;                                                     /* eat:    skip            */
       fork[SECOND] = FREE;                                      /* sated:  release second  */
       fork[FIRST] = FREE                                        /* leave:  release first   */
    od
}
