// Environments hold the mode; FENV_ACCESS keeps the compiler from computing constants.
#include "../verify.h"
#include <fenv.h>
#include <math.h>

static double third(void) {
#pragma STDC FENV_ACCESS ON
    return 1.0 / 3.0;
}

static double up(double x, double y) {
    fenv_t environment;
    check(feholdexcept(&environment) == 0);
    fesetround(FE_UPWARD);
    double sum = x + y;
    check(feupdateenv(&environment) == 0);
    return sum;
}

int main(void) {
    double nearest = third();
    fenv_t down;
    fesetround(FE_DOWNWARD);
    check(fegetenv(&down) == 0 && third() == nearest);
    check(up(1, 0x1p-60) == 1 + 0x1p-52 && fegetround() == FE_DOWNWARD);
    fesetenv(FE_DFL_ENV);
    check(fegetround() == FE_TONEAREST && third() == nearest);
    check(fesetround(FE_UPWARD) == 0 && third() > nearest);
    double x = __VERIFIER_nondet_double();
    int (*set)(const fenv_t *) = x > 0 ? fesetenv : feupdateenv;
    set(&down);
    check(fegetround() == FE_DOWNWARD && up(1, 0x1p-60) > 1);
    volatile double one = 1;
    wrong(one + x != 1 || x == 0);
    return 0;
}
