/* Mutual exclusion by one binary semaphore: the steps of examples/mux_sem.pw, one transition each.
   The benchmark uses -DN=16. */
#ifndef N
#define N 16
#endif

bit x = 1;

active [N] proctype P()
{
    do
    :: skip;                                    /* noncrit: skip       */
       d_step { x > 0 -> x = x - 1 };           /* trying:  acquire x  */
       skip;                                    /* crit:    skip       */
       x = x + 1                                /* leave:   release x  */
    od
}
