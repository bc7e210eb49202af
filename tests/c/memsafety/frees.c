// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-free)
// run: --property valid-memsafety -DBUG=2 => FALSE(valid-free)
// run: --property valid-memsafety -DBUG=3 => FALSE(valid-free)
// run: --property valid-memsafety -DBUG=4 => FALSE(valid-free)
// run: --property valid-memsafety -DBUG=5 => FALSE(valid-free)
// run: --property valid-memsafety -DBUG=6 => FALSE(valid-free)
// Freeing null is allowed. Freeing twice, the middle of an object, a variable, or memory that `realloc` has freed is not; nor is passing `realloc` the
// middle of an object or its end, which is no invalid access.
#include "../verify.h"
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    char on_stack[4];
    int x = __VERIFIER_nondet_int();
    char *p = malloc(8), *q = p;
    free(x > 0 ? 0 : NULL);
    if (BUG == 2 && x == 5)
        q++;
    if (BUG == 3)
        q = x > 9 ? on_stack : q;
    if (BUG == 4) {
        q = realloc(p, 100);
        if (x != 3)
            p = q;
        q = p;
    }
    if (BUG == 5 && x == 7)
        p = q = realloc(p + 1, 100); // wrong
    if (BUG == 6 && x == 7)
        p = q = realloc(p + 8, 4); // wrong
    free(q); // wrong
    if (BUG == 1 && x != 1)
        free(p); // wrong
    return 0;
}
