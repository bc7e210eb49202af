// The source of a library function must not overlap its destination. Copying memory to itself is allowed, as in AddressSanitizer.
// run: --check address => TRUE
// run: --check address -DBUG=1 => FALSE(address)
// run: --check address -DBUG=2 => FALSE(address)
// run: --check address -DBUG=3 => FALSE(address)
// run: --check address -DBUG=4 => FALSE(address)
// run: --check address -DBUG=5 => FALSE(address)
// run: --property valid-memsafety -DBUG=1 => TRUE
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

struct block {
    char bytes[8];
};

int main(void) {
    char text[16] = "abcdefgh", other[16];
    unsigned n = __VERIFIER_nondet_uint();
    __VERIFIER_assume(n <= 4);
    // The last allowed case: one area directly follows the other.
    memcpy(text + 4, text, n + (BUG == 1)); // wrong
    memcpy(text, text, 4);
    memmove(text + 1, text, 4);
    strcpy(other, text);
    strncpy(other, other + 2 - (BUG == 2), 2); // wrong
    other[3] = 0;
    other[7] = 0;
    strcpy(other + 4 - (n == 3 && BUG == 3) * 4, other); // wrong
    memset(other, 'x', 8);
    other[3] = other[8] = 0;
    strncat(other, other + 5 - (BUG == 4), 1); // wrong
    other[0] = text[1] = 0;
    char *heap = malloc(16);
    if (!heap)
        return 0;
    memset(heap, n, 16);
    struct block *a = (struct block *)heap, *b = (struct block *)(heap + 8 - (BUG == 5));
    *a = *b; // wrong
    char *where = n == 2 ? heap : other;
    memcpy(where, heap + 8, 8);
    free(heap);
    return 0;
}
