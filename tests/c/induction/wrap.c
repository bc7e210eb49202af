// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis k-induction -DBUG => FALSE(unreach-call)
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* Six times 50 is 44 in eight bits. */
int main(void) {
    unsigned char x = 0;
    while (__VERIFIER_nondet_int()) {
        x += 50;
#ifdef BUG
        check(x != 44); // wrong
#else
        check((x & 1) == 0);
#endif
    }
    return 0;
}
