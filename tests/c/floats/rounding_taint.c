// run: => UNKNOWN
// run: -DEXACT => TRUE
// In modes other than to nearest, functions that IEEE 754 does not define may return anything.
#include "../verify.h"
#include <fenv.h>
#include <math.h>

int main(void) {
    volatile double one = 1;
    fesetround(FE_DOWNWARD);
    double e = exp(one);
#ifdef EXACT
    check(fegetround() == FE_DOWNWARD);
    fesetround(FE_TONEAREST);
    check(exp(one) >= 1);
#else
    check(e >= 1);
#endif
    return 0;
}
