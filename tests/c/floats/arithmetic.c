// Rounding to nearest, even.
#include "../verify.h"

int main(void) {
    double third = 1.0 / 3.0;
    check(third * 3.0 == 1.0);
    check(0.1 + 0.2 != 0.3);
    check(0.1f + 0.2f == 0.3f);
    float f = 16777216.0f;
    check(f + 1.0f == f);
    double d = 9007199254740992.0;
    check(d + 1.0 == d && d + 2.0 != d);
    int n = __VERIFIER_nondet_schar();
    double x = n;
    check(x * 0.5 * 2.0 == x);
    check((int)(x / 4.0 * 4.0) == n);
    wrong(x * x != 144.0);
    return 0;
}
