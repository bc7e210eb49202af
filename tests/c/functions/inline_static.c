#include "../verify.h"

static inline int twice(int x) { return 2 * x; }
__attribute__((always_inline)) static inline int thrice(int x) { return twice(x) + x; }
__attribute__((noinline)) static int plain(int x) { return thrice(x) - 1; }

int main(void) {
    short x = __VERIFIER_nondet_short();
    check(plain(x) == 3 * x - 1);
    wrong(thrice(x) != 2997);
    return 0;
}
