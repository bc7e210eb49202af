// A jump leads into the scope of `y`, so clang does not mark its end. The use of `y` after it is not detected, and safety is not
// proved.
// run: --property valid-memsafety => UNKNOWN
// run: --property valid-memsafety -DUSED_WITHIN => TRUE
// run: --property valid-memsafety -DREPEATED => UNKNOWN
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
#ifdef REPEATED
    int n = x & 3, *kept = 0;
    {
        int a[n + 1];
        a[0] = n;
        for (int i = 0; i < 2; i++) {
            int *more = __builtin_alloca(4 * (n + 1));
            *more = i;
            if (i == 0)
                kept = more;
        }
    }
    return *kept;
#else
    int z = 1, *p = &z;
    switch (x) {
        int y;
    case 1:
        y = 3;
#ifndef USED_WITHIN
        p = &y;
#endif
        break;
    default:
        y = x & 1;
        z = y;
    }
    return *p;
#endif
}
