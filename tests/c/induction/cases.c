// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* For each value of the first argument, the result is a different formula over the second one: n + 2, and 3n + 5. */
static int levels(int level, int n) {
    if (level == 0) return n + 2;
    if (n == 0) return levels(level - 1, 3);
    return levels(0, levels(level, n - 1)) + 1;
}
int main(void) {
    int level = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
    if (level < 0 || level > 1 || n < 0 || n > 10000000) return 0;
    int result = levels(level, n);
#ifdef BUG
    check(result != 11); // wrong
#else
    check(result >= n + 2);
#endif
    return 0;
}
