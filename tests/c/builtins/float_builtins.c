#include "../verify.h"

int main(void) {
    double x = __VERIFIER_nondet_double();
    check(__builtin_fabs(-2.0) == 2.0);
    check(__builtin_inf() > 1e308 && __builtin_nan("") != __builtin_nan(""));
    check(__builtin_isunordered(x, x) == (x != x));
    check(__builtin_islessgreater(1.0, 2.0));
    check(__builtin_copysign(1.0, -2.0) == -1.0);
    check(__builtin_fma(2.0, 3.0, 1.0) == 7.0);
    wrong(__builtin_fabs(x) != 0.5);
    return 0;
}
