// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* A remainder lies between zero and the divisor, whatever it is. */
static int common(int a, int b) {
    if (b == 0) return a;
    return common(b, a % b);
}
int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    if (a <= 0 || b <= 0) return 0;
    int divisor = common(a, b);
#ifdef BUG
    check(divisor != 6); // wrong
#else
    check(divisor > 0);
#endif
    return 0;
}
