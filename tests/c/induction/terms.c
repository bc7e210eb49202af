// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* A bound that the program computes but never compares with. */
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n > 500) return 0;
    for (int i = 0; i < n; i++) {
        for (int j = 3 * i; j < n; j++) {
            for (int k = j; k < n; k++) {
#ifdef BUG
                check(k > 3 * i); // wrong
#else
                check(k - 3 * i >= 0);
#endif
            }
        }
    }
    return 0;
}
