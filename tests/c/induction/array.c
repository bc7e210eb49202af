// native: no
// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis k-induction -DBUG => FALSE(unreach-call)
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* The loop writes an element that it reads in the same iteration. */
int main(void) {
    int a[16];
    unsigned i = 0, n = __VERIFIER_nondet_uint();
    while (i < n) {
        unsigned k = i % 16;
        a[k] = (int)(i % 3);
#ifdef BUG
        check(a[(k + 1) % 16] <= 2 || i < 4); // wrong
#else
        check(a[k] <= 2);
#endif
        i++;
    }
    return 0;
}
