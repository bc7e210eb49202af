// CBMC's quantifiers and implications, which compilers do not accept.
#include "../verify.h"

static int ordered(const int *a, unsigned n) {
    return __CPROVER_forall { unsigned i; (i > 0 && i < n) ==> a[i - 1] <= a[i] };
}

int main(void) {
    int a[4];
    for (int i = 0; i < 4; i++)
        a[i] = __VERIFIER_nondet_int();
    __CPROVER_assume(ordered(a, 4));
    check(a[0] <= a[3]);
    __CPROVER_assert(a[0] == 7 ==> a[1] >= 7, "it is ordered");
    _Bool has_zero = __CPROVER_exists {
        int k;
        0 <= k && k < 4 && a[k] == 0
    };
    check(has_zero == (a[0] == 0 || a[1] == 0 || a[2] == 0 || a[3] == 0));
    check(__CPROVER_forall { signed char c; c + 1 > c });
    check(__CPROVER_forall { int x; x < 5 && x >= -5 ==> __CPROVER_exists { int y; y >= 0 && y < 26 && y == x * x } });
    wrong(has_zero ==> a[3] == 0);
    return 0;
}
