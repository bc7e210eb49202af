// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis k-induction -DBUG => FALSE(unreach-call)
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* Two functions that call each other. */
static int odd(unsigned n);
static int even(unsigned n) {
    if (n == 0) return 1;
    return odd(n - 1);
}
static int odd(unsigned n) {
#ifdef BUG
    if (n == 5) return 0;
#endif
    if (n == 0) return 0;
    return even(n - 1);
}
int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 100000) return 0;
    if (n % 2 == 0) check(even(n)); // wrong
    else check(!even(n) || n % 2 == 0); // wrong
    return 0;
}
