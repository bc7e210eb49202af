// A function may disable clang's sanitizers; a division by zero in it is still undefined.
// run: => TRUE
// run: --check undefined => TRUE
// run: --check integer-divide-by-zero -DBUG => FALSE(integer-divide-by-zero)
// run: --property unreach-call -DBUG => UNKNOWN
#include "../verify.h"
#include <assert.h>

__attribute__((no_sanitize("undefined"))) static int ratio(int n) {
    return 10 / n; // wrong
}

int main(void) {
    int n = __VERIFIER_nondet_int();
#ifndef BUG
    if (n == 0)
        return 0;
#endif
    int r = ratio(n);
    assert(n != 0);
    return r > 100;
}
