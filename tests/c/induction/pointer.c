// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis k-induction -DBUG => FALSE(unreach-call)
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* A recursive function that writes through its pointer argument. */
static void add(int *p, int n) {
    if (n <= 0) return;
#ifdef BUG
    *p = n == 2 ? -1 : *p;
#endif
    *p = *p < 1000 ? *p + 1 : *p;
    add(p, n - 1);
}
int main(void) {
    int x = 0, y = 7;
    add(&x, __VERIFIER_nondet_int());
#ifdef BUG
    check(x != 1); // wrong
#endif
    check(y == 7);
    return 0;
}
