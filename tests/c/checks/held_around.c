// An address before an object is a greater number than all its addresses: values that wrap around have no order.
// run: --check address => TRUE
// run: --check address -DFAULT => FALSE(address)
// native: unseen
// This memory may belong to another object, so no sanitizer reports the access.
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
