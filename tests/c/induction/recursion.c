// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* The contract of the function contains a global variable. */
int calls;
static int count(int n) {
    calls++;
    if (n <= 0) return 0;
#ifdef BUG
    if (n == 3) calls++;
#endif
    return count(n - 1) + 1;
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 100000) return 0;
    int result = count(n);
    check(result == n);
    check(calls == n + 1); // wrong
    return 0;
}
