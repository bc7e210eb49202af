// Both blocks of memcmp must have all their bytes, even after the first difference.
// run: --check address => TRUE
// run: --check address -DBUG=1 => FALSE(address)
// run: --check address -DBUG=2 => FALSE(address)
#include "../verify.h"
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    char a[5] = "bb", b[8] = "aaaa";
    a[2] = (char)__VERIFIER_nondet_int();
    size_t n = __VERIFIER_nondet_uint() % 6;
    int order = memcmp(a, b, n + (BUG == 1)); // wrong
    order += memcmp(b, a + 1, BUG == 2 ? 5 : 4); // wrong
    return order > 0;
}
