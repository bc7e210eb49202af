// run: --property valid-memsafety -DSAFE => TRUE
// run: --property valid-memsafety => FALSE(valid-memtrack)
// run: --property valid-memsafety --analysis value => FALSE(valid-memtrack)
// run: --property valid-memsafety --analysis symex-cegar => FALSE(valid-memtrack)
// run: --property valid-memsafety --analysis symex => FALSE(valid-memtrack)
// A variable that is never read keeps memory reachable: states that differ in it differ.
#include "../verify.h"
#include <stdlib.h>

static char *kept;

int main(void) {
    char *p = malloc(8); // wrong
    if (!p)
        return 0;
    int how = __VERIFIER_nondet_int();
    if (how == 0)
        free(p);
    if (how == 1)
        kept = p;
#ifdef SAFE
    if (how != 0 && how != 1)
        free(p);
#endif
    p = 0;
    return 0; // wrong
}
