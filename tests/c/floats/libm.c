// Functions of math.h that IEEE 754 defines exactly.
#include "../verify.h"
#include <math.h>

int main(void) {
    check(sqrt(2.25) == 1.5);
    check(fabs(-3.5) == 3.5 && fabsf(-0.25f) == 0.25f);
    check(floor(-1.5) == -2.0 && ceil(-1.5) == -1.0 && trunc(-1.5) == -1.0);
    check(round(2.5) == 3.0 && rint(2.5) == 2.0);
    check(fmod(7.5, 2.0) == 1.5);
    check(fmax(1.0, 2.0) == 2.0 && fmin(1.0, 2.0) == 1.0);
    check(copysign(3.0, -0.0) == -3.0);
    check(isnan(NAN) && isinf(INFINITY) && !isfinite(INFINITY));
    double x = __VERIFIER_nondet_double();
    if (x >= 0.0 && x <= 100.0)
        check(floor(x) <= x && x - floor(x) < 1.0);
    wrong(fabs(x) != 12.5 || x > 0.0);
    return 0;
}
