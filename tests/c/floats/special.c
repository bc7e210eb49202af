// Infinities, NaN, signed zeros.
#include "../verify.h"

int main(void) {
    float f = __VERIFIER_nondet_float();
    double zero = 0.0;
    double inf = 1.0 / zero;
    check(inf > 1e308 && -inf < -1e308);
    check(zero == -zero && 1.0 / zero != 1.0 / -zero);
    double nan = inf - inf;
    check(nan != nan);
    check(!(nan < 0) && !(nan >= 0));
    if (f == f)
        check(f - f == 0.0f || f - f != f - f);
    check(__builtin_isnan(nan) && __builtin_isinf(inf) && !__builtin_isinf(1.0));
    check(__builtin_signbit(-zero) && !__builtin_signbit(zero));
    wrong(f == f);
    return 0;
}
