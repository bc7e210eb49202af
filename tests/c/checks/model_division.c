// A division in a library model, for which clang has no check: the division itself detects undefined operands.
// run: --check undefined => TRUE
// run: --check undefined -DBUG => FALSE(integer-divide-by-zero)
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    int by = __VERIFIER_nondet_int();
#ifndef BUG
    if (by == 0 || by == -1)
        return 0;
#endif
    int sum = div(7, by).quot; // wrong
    return sum + 1 > 100;
}
