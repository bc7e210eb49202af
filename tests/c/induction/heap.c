// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis k-induction -DBUG => FALSE(unreach-call)
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

#include <stdlib.h>
/* Facts about heap memory that a loop writes are dropped, also if it writes through another pointer. */
int main(void) {
    int *p = malloc(sizeof(int)), *q = malloc(sizeof(int));
    int *r = q;
    *p = 1;
    *q = 1;
    int turns = 0;
    while (__VERIFIER_nondet_int()) {
        turns++;
#ifdef BUG
        if (turns > 3) *p = 2;
#else
        if (turns > 3) *r = 2;
#endif
    }
    check(*p == 1); // wrong
    return 0;
}
