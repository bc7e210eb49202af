// run: --32 => TRUE
// run: --32 -DBUG => FALSE(unreach-call)
// run: --64 -DLP64 => TRUE
// run: --data-model ILP32 => TRUE
// The two data models.
#include "../verify.h"

int main(void) {
    unsigned long x = __VERIFIER_nondet_ulong();
#ifdef LP64
    check(sizeof(long) == 8 && sizeof(void *) == 8);
    check((unsigned)x == (x & 0xffffffff));
#else
    check(sizeof(long) == 4 && sizeof(void *) == 4 && sizeof(long long) == 8);
    check(x <= 0xffffffff);
    long long wide = x;
    check(wide >= 0);
#endif
    wrong(x * 3 != 1);
    return 0;
}
