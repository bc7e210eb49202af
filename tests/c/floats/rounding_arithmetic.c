// Arithmetic in the modes of fesetround.
#include "../verify.h"
#include <fenv.h>
#include <float.h>
#include <math.h>

int main(void) {
    float x = __VERIFIER_nondet_float(), y = __VERIFIER_nondet_float();
    __VERIFIER_assume(x >= 1 && x < 1000 && y >= 1 && y < 1000);
    float nearest = x + y;
    check(fesetround(FE_DOWNWARD) == 0);
    float down = x + y, zero_down = x - x;
    check(signbit(zero_down));
    check(fesetround(FE_UPWARD) == 0);
    float up = x + y, zero_up = x - x;
    check(!signbit(zero_up));
    check(fesetround(FE_TOWARDZERO) == 0);
    float truncated = x + y, negative = -x - y;
    check(down <= nearest && nearest <= up && truncated == down && negative == -down);
    check(down == up || nextafterf(down, up) == up);

    volatile double huge = DBL_MAX, one = 1, three = 3;
    check(huge * 2 == DBL_MAX);
    double third = one / three;
    fesetround(FE_UPWARD);
    check(isinf(huge * 2) && -huge * 2 == -DBL_MAX);
    check(one / three > third && sqrt(three) * sqrt(three) > 3);
    // The compiler computes operations on constants.
    check(1.0 / 3.0 == third);
    fesetround(FE_TONEAREST);
    check(one / three == third);
    wrong(down == up);
    return 0;
}
