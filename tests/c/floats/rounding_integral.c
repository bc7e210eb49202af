// rint, nearbyint and lrint follow the mode; round, floor, ceil and trunc do not.
#include "../verify.h"
#include <fenv.h>
#include <math.h>

int main(void) {
    double x = __VERIFIER_nondet_double();
    __VERIFIER_assume(x > -1e6 && x < 1e6);
    int mode = __VERIFIER_nondet_int();
    if (fesetround(mode) != 0) {
        check(mode != FE_TONEAREST && mode != FE_DOWNWARD && mode != FE_UPWARD && mode != FE_TOWARDZERO);
        check(fegetround() == FE_TONEAREST);
        return 0;
    }
    check(fegetround() == mode);
    double r = rint(x);
    check(nearbyint(x) == r && lrint(x) == r && llrint(x) == r);
    check(rintf(2.5f) == (mode == FE_UPWARD ? 3 : 2) && rintl(-2.5L) == (mode == FE_DOWNWARD ? -3 : -2));
    switch (mode) {
    case FE_DOWNWARD:
        check(r == floor(x));
        break;
    case FE_UPWARD:
        check(r == ceil(x));
        break;
    case FE_TOWARDZERO:
        check(r == trunc(x));
        break;
    default:
        check(fabs(x - r) <= 0.5);
    }
    check(round(2.5) == 3 && round(-2.5) == -3 && floor(2.5) == 2 && ceil(2.5) == 3 && trunc(-2.5) == -2 && lround(2.5) == 3);
    wrong(r == round(x) || mode != FE_TONEAREST);
    return 0;
}
