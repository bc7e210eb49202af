// Complex arithmetic: quotients, infinities, parts.
#include <complex.h>
#include <math.h>
#include "../verify.h"

int main(void) {
    double complex z = (1.0 + 2.0 * I) / (3.0 + 4.0 * I);
    check(creal(z) == 0.44 && cimag(z) == 0.08);
    float complex f = (1 + 2 * I) / (3 + 4 * I);
    check(crealf(f) == 0.44f && cimagf(conjf(f)) == -0.08f);
    long double complex l = (1.0L + 1.0L * I) * (1.0L - 1.0L * I);
    check(creall(l) == 2 && cimagl(l) == 0);
    // An infinite factor makes the product infinite, whatever the other part is.
    double complex big = __builtin_complex((double)INFINITY, (double)NAN), p = big * (1.0 + 1.0 * I);
    check(isinf(creal(p)) || isinf(cimag(p)));
    check(creal(cproj(big)) == INFINITY);
    check(cabs(__builtin_complex(0.0, -3.0)) == 3);
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 4)
        return 0;
    double complex q = (double)(n * 8) / (2 * I);
    check(creal(q) == 0 && cimag(q) == -4.0 * n);
    wrong(cimag(q) != -12);
    return 0;
}
