// The condition of `__builtin_assume` holds in all executions without undefined behaviour. A false condition is a violation of its own.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --check builtin => TRUE
// run: --check builtin -DUNTOLD => FALSE(builtin)
// native: unseen
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
#ifndef UNTOLD
    if (x < 4)
        return 0;
#endif
    __builtin_assume(x > 3); // wrong with UNTOLD
#ifdef BUG
    if (x == 77)
        reach_error(); // wrong
#endif
    if (x == 3)
        reach_error();
    return 0;
}
