// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* An inner loop may end early, and the outer loop uses its final values. */
int main(void) {
    int i, j, sum = 0, n = __VERIFIER_nondet_int();
    if (n < 0 || n > 1000) return 0;
    for (i = 0; i < n; i++) {
        for (j = 0; j < 5; j++) {
            if (__VERIFIER_nondet_int()) break;
            sum++;
        }
#ifdef BUG
        check(i < 2 || j < 5 || sum < 15); // wrong
#else
        check(j <= 5);
#endif
    }
    return 0;
}
