// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* Candidates contain `step`, which has no value at the entry of the loop. */
int main(void) {
    int sum = 0, turns = 0, step;
    while (sum < 700) {
        step = __VERIFIER_nondet_int();
        if (step < 1 || step > 900) return 0;
        sum += step;
        turns++;
    }
#ifdef BUG
    check(turns > 1); // wrong
#else
    check(turns <= 700);
#endif
    return 0;
}
