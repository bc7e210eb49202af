// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* The next square follows from the last by arithmetic modulo 2^64, not by a solver that multiplies bit by bit. */
int main(void) {
    short most = __VERIFIER_nondet_short();
    long long sum = 0, n = 0, turns = 0;
    while (turns < most) {
        turns++;
        n++;
        sum += n;
#ifdef BUG
        check(sum != 28); // wrong
#else
        check(2 * sum == n * n + n);
#endif
    }
    return 0;
}
