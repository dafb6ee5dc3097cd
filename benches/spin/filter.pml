/* The filter lock: the steps of examples/filter.pw, one transition each.
   The loop over the levels has no counter of its own: at `climb` the level reached so far is in level[_pid], and the
   loop ends where it is N - 1, so that the place `climb` with that level is `crit`. At most 8 processes; the benchmark uses -DN=5. */
#ifndef N
#define N 5
#endif

byte level[N];
byte last[N];

#define BELOW(k) (k == _pid || level[k] < level[_pid])
#if N == 2
#define ALONE (BELOW(0) && BELOW(1))
#elif N == 3
#define ALONE (BELOW(0) && BELOW(1) && BELOW(2))
#elif N == 4
#define ALONE (BELOW(0) && BELOW(1) && BELOW(2) && BELOW(3))
#elif N == 5
#define ALONE (BELOW(0) && BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4))
#elif N == 6
#define ALONE (BELOW(0) && BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4) && BELOW(5))
#elif N == 7
#define ALONE (BELOW(0) && BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4) && BELOW(5) && BELOW(6))
#elif N == 8
#define ALONE (BELOW(0) && BELOW(1) && BELOW(2) && BELOW(3) && BELOW(4) && BELOW(5) && BELOW(6) && BELOW(7))
#endif

active [N] proctype P()
{
    do
    :: skip;                                                            /* noncrit: idle          */
       do
       :: d_step { level[_pid] < N - 1 -> level[_pid] = level[_pid] + 1 };  /* climb: level = l       */
          last[level[_pid]] = _pid;                                     /* mark:    last[l] = i   */
          (last[level[_pid]] != _pid || ALONE)                          /* wait:    await ...     */
       :: level[_pid] == N - 1 -> break                                 /* crit:    skip          */
       od;
       level[_pid] = 0                                                  /* leave:   level = 0     */
    od
}
