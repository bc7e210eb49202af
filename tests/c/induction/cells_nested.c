// run: --analysis invariants => TRUE
// run: --analysis invariants -DBUG -DN=6 => FALSE(unreach-call)
// run: -DBUG -DN=6 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 1000
#endif

/* The cells of a matrix are one row, written up to an index that is a sum. */
int main(void) {
    static int a[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = 7;
#ifdef BUG
    a[N - 1][__VERIFIER_nondet_uint() % N] = 8;
#endif
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            check(a[i][j] == 7); // wrong
    return 0;
}
