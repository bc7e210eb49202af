// run: => TRUE
// run: --analysis invariants -DBUG -DN=30 => FALSE(unreach-call)
// run: -DBUG -DN=30 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 100000
#endif

/* Facts about all cells must be dropped if the second loop writes to them, also through another pointer and in other
   pieces than the first. */
int main(void) {
    static int a[N];
    int i;
    for (i = 0; i < N; i++)
        a[i] = 0x01010101;
    unsigned char *bytes = (unsigned char *)a;
    for (i = 0; i < N; i++) {
        unsigned at = __VERIFIER_nondet_uint();
        if (at < 4 * N)
            bytes[at] = __VERIFIER_nondet_bool();
    }
    unsigned at = __VERIFIER_nondet_uint();
    if (at < 4 * N) {
#ifdef BUG
        check(bytes[at] == 1); // wrong
#else
        check(bytes[at] <= 1);
#endif
    }
    return 0;
}
