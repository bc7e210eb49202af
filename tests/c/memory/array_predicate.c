// The path is refuted by a condition on an array, before any loop uses the array.
// run: --analysis predicate => TRUE
// run: --analysis value-predicate => TRUE
// run: => TRUE
// run: --analysis value-predicate -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    unsigned i = __VERIFIER_nondet_uint(), j = __VERIFIER_nondet_uint(), x = 1;
    if (i >= 1000 || j >= 1000)
        return 0;
    while (__VERIFIER_nondet_bool())
        if (x < 100)
            x++;
    unsigned *p = calloc(1000, sizeof *p);
    p[i] = x;
#ifdef BUG
    if (j == i + 1 && p[j] == 0)
#else
    if (i == j && p[j] == 0)
#endif
        reach_error(); // wrong
    return 0;
}
