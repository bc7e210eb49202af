// run: -DBUG => FALSE(unreach-call)
// An infinite loop with a violation in it.
#include "../verify.h"

int main(void) {
    unsigned n = 0;
    for (;;) {
        n += __VERIFIER_nondet_bool() ? 1 : 2;
        check(n != 0 || n == 0);
        wrong(n != 9);
    }
}
