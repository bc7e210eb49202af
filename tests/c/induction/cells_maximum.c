// run: => TRUE
// run: --analysis invariants => TRUE
// run: --analysis invariants -DBUG -DN=30 => FALSE(unreach-call)
// run: -DBUG -DN=40 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 300000
#endif

/* All cells are at most the greatest seen so far. */
int main(void) {
    int a[N], greatest = 0;
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 0; i < N; i++) {
#ifdef BUG
        if (a[i] > greatest && i != 17)
#else
        if (a[i] > greatest)
#endif
            greatest = a[i];
    }
    for (int i = 0; i < N; i++)
        check(a[i] <= greatest); // wrong
    return 0;
}
