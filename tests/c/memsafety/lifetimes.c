// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=2 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=3 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=4 => FALSE(valid-deref)
// Accesses to freed objects, after the end of a scope, after the return of a function, and to null.
#include "../verify.h"
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

static int *kept;

static int *local(int x) {
    static int fine;
    int gone[2] = {x, x};
    int *p = gone;
    return BUG == 3 ? p : &fine;
}

int main(void) {
    int x = __VERIFIER_nondet_int(), sum = 0;
    int *p = malloc(sizeof *p);
    *p = x;
    if (BUG == 1 && x == 7)
        free(p);
    sum += *p == 7; // wrong
    if (!(BUG == 1 && x == 7))
        free(p);
    for (int i = 0; i < 3; i++) {
        int inner[2] = {i, x};
        kept = inner;
        sum += kept[0] == x;
    }
    if (BUG == 2)
        sum += kept[1]; // wrong
    p = local(x);
    sum += *p > 3; // wrong
    if (x == 42 && BUG == 4)
        p = 0;
    *p = sum; // wrong
    return 0;
}
