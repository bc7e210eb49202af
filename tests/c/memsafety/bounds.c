// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=2 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=3 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=4 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=5 => FALSE(valid-deref)
// The last element, the one after it, and the one before the first, for arrays of all kinds.
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

int table[4];

int main(void) {
    int local[4] = {0};
    unsigned n = __VERIFIER_nondet_uint();
    char *heap = malloc(n % 16 + 1);
    int i = __VERIFIER_nondet_int();
    if (i < (BUG == 5 ? -1 : 0) || i > 3 + (BUG == 1 || BUG == 2))
        return free(heap), 0;
    if (BUG != 1)
        table[BUG == 2 ? i : i & 3] = 1; // wrong
    local[BUG == 2 ? 0 : i] = 2; // wrong
    heap[n % 16 + (BUG == 3)] = 0; // wrong
    memset(heap, 1, n % 16 + 1 + (BUG == 4)); // wrong
    free(heap);
    return 0;
}
