// An address before an object is a number beyond it: what wraps around has no order.
// run: --check address => TRUE
// run: --check address -DFAULT => FALSE(address)
// native: unseen
// What lies there may be memory of somebody else, of which no sanitizer knows that it is.
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    size_t n = __VERIFIER_nondet_uint();
    char *all = malloc(n + 8), *end = all + n;
    char *p = all + __VERIFIER_nondet_ulong();
#ifdef FAULT
    if (p < end)
#else
    if (p < end && p >= all)
#endif
        *p = 9; // wrong
    free(all);
}
