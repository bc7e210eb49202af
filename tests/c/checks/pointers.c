// run: --check alignment,nonnull-attribute,returns-nonnull-attribute,pointer-overflow => TRUE
// run: --check alignment -DBUG=1 => FALSE(alignment)
// run: --check nonnull-attribute -DBUG=2 => FALSE(nonnull-attribute)
// run: --check returns-nonnull-attribute -DBUG=3 => FALSE(returns-nonnull-attribute)
// run: --check pointer-overflow -DBUG=4 => FALSE(pointer-overflow)
#include "../verify.h"
#include <stdint.h>

#ifndef BUG
#define BUG 0
#endif

__attribute__((nonnull)) static int first(int *p) { return p == 0; }

__attribute__((returns_nonnull)) static int *same(int *p) { return p; } // wrong

int main(void) {
    int numbers[3] = {0};
    unsigned i = __VERIFIER_nondet_uint();
    __VERIFIER_assume(i < 3);
    char *bytes = (char *)numbers;
    int *aligned = (int *)(bytes + i * (BUG == 1 ? 2 : 4));
    if (i < 2)
        *aligned = 1; // wrong
    int *maybe = BUG == 2 && i == 1 ? 0 : numbers;
    int n = first(maybe); // wrong
    int *other = same(BUG == 3 && i == 2 ? 0 : numbers);
    uintptr_t large = BUG == 4 ? UINTPTR_MAX : 8;
    char *far = bytes + (i == 0 ? large : 0); // wrong
    return n + (other == 0) + (far == bytes);
}
