/* The rounding mode: arithmetic, conversions and the functions of math.h in each of the four modes. */
#include "report.h"
#include <errno.h>
#include <fenv.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static unsigned hash = 1;
static void number(long long x) { hash = fold(hash, x); }
static void real(double x) {
    unsigned long long bits = 0;
    if (x == x) memcpy(&bits, &x, sizeof x);
    hash = fold(hash, bits);
}
static void single(float x) {
    unsigned bits = 0;
    if (x == x) memcpy(&bits, &x, sizeof x);
    hash = fold(hash, bits);
}
static void extended(long double x) {
    unsigned long long fraction = 0;
    unsigned short exponent = 0;
    if (x == x) memcpy(&fraction, &x, 8), memcpy(&exponent, (char *)&x + 8, 2);
    hash = fold(fold(hash, fraction), exponent);
}

static const double values[] = {0.0, -0.0, 0.5, -0.5, 1, -1.5, 2.5, -3.7, 1e10, -1e-10, 123456.789, 4503599627370497.5, 1e308, -1e308,
                                -1e-307, 4.9e-324, INFINITY, -INFINITY, NAN, 0.1, 3, 7, 1e-45, 3.4028235e38, 16777217, 9007199254740993.0};
static const int modes[] = {FE_DOWNWARD, FE_TOWARDZERO, FE_UPWARD, FE_TONEAREST};
enum { N = sizeof values / sizeof *values };

static void arithmetic(double x, double y) {
    float f = x, g = y;
    long double l = x, m = y;
    real(x + y), real(x - y), real(x * y), real(x / y), real(x * y + 0.1), real(-x), real(fabs(x));
    single(f + g), single(f - g), single(f * g), single(f / g), single(x), single(l);
    extended(l + m), extended(l - m), extended(l * m), extended(l / m), real(l / m);
    x += 0.1, x *= y, real(x), x -= x, real(x);
    number(f < g), number(x == y), number(l >= m);
}

static long double unsigned_zero(long double x) { return x == 0 ? 0 : x; }

static void exact(double x, double y) {
    float f = x;
    long double l = x;
    real(floor(x)), real(ceil(x)), real(trunc(x)), real(round(x)), single(floorf(f)), single(roundf(f)), extended(ceill(l)), extended(roundl(l));
    real(fmod(x, y)), single(fmodf(f, y)), extended(fmodl(l, y));
    /* The library returns zeros with a wrong sign. */
    real(unsigned_zero(remainder(x, y))), single(unsigned_zero(remainderf(f, y))), extended(unsigned_zero(remainderl(l, y)));
    real(copysign(x, y)), real(nextafter(x, y)), single(nextafterf(f, y)), extended(nextafterl(l, y)), real(logb(x)), extended(logbl(l));
    int e = 0, quotient = 0;
    real(frexp(x, &e)), number(e), extended(frexpl(l, &e)), number(e);
    double whole = 0, r = remquo(x, y, &quotient);
    real(modf(x, &whole)), real(whole), real(unsigned_zero(r));
    if (r == r) number(quotient & 7);
    if (x == x && fabs(x) < 1e9) number(lround(x)), number(llroundf(f)), number(lroundl(l)), number((long long)x), number((int)f), number((long)l);
    if (x >= 0 && x < 1e18) number((unsigned long long)x), number((unsigned long long)l);
}

static void rounded(double x, double y) {
    float f = x;
    long double l = x;
    real(rint(x)), real(nearbyint(x)), single(rintf(f)), single(nearbyintf(f)), extended(rintl(l)), extended(nearbyintl(l));
    real(sqrt(fabs(x))), single(sqrtf(fabsf(f))), extended(sqrtl(fabsl(l)));
    real(fma(x, y, 0.1)), single(fmaf(f, y, 0.1f)), extended(fmal(l, y, 0.1L)), real(fdim(x, y)), single(fdimf(f, y)), extended(fdiml(l, y));
    if (x == x && fabs(x) < 1e9) number(lrint(x)), number(llrint(x)), number(lrintf(f)), number(llrintf(f)), number(lrintl(l)), number(llrintl(l));
    for (int n = -1200; n < 1200; n += 61) {
        errno = 0;
        real(ldexp(x, n)), single(scalbnf(f, n / 7)), real(scalbln(x, n * 3L)), number(errno);
        extended(ldexpl(l, n * 15));
    }
}

static void integers(long long n) {
    unsigned long long u = n;
    real(n), single(n), extended(n), real((int)n), single((int)n);
    /* Only if clang's code for an unsigned zero is like that of other compilers. */
    if (u != 0) real(u), single(u), extended(u);
    if ((unsigned)u != 0) real((unsigned)u), single((unsigned)u);
    real(difftime(n >> 2, 3)), real(difftime(n, n)), real(difftime(-5, n));
}

static void constrained(double x, double y, int n, unsigned long long u) {
#pragma STDC FENV_ACCESS ON
    float f = x;
    real(x + y), real(x - y), real(x * y), real(x / y), single(f), single(n), single(u), real(u), real(n), real(1.0 / 3.0), single(0.1f * 0.1f);
    real(__builtin_rint(x)), real(__builtin_nearbyint(x)), real(__builtin_floor(x)), real(__builtin_round(x)), real(__builtin_fma(x, y, 0.1));
    real(-x), real(x * y + 0.1), number(FLT_ROUNDS);
    number(x < y), number(x <= y), number(x == y), number(x != y), number(!(x > y)), number(isnan(x) != 0), number(isinf(y) != 0);
    if (x >= 0 && x < 1e9) number((int)x), number((unsigned)x), number((unsigned long long)f), number(__builtin_lrint(x));
}

static double third(void) { return 1.0 / 3.0; }
static volatile double one = 1, three = 3;

int main(void) {
    number(fegetround()), number(FLT_ROUNDS);
    fenv_t first, second;
    number(fegetenv(&first));
    for (int k = 0; k < 4; k++) {
        number(fesetround(modes[k])), number(fegetround()), number(FLT_ROUNDS);
        number(fesetround(0x123) != 0), number(fesetround(-1) != 0), number(fesetround(1) != 0), number(fesetround(0x1000) != 0);
        number(fegetround());
        real(third()), real(one / three), real(-one / three);
        for (int i = 0; i < N; i++) {
            for (int j = 0; j < N; j++) {
                arithmetic(values[i], values[j]), exact(values[i], values[j]);
                constrained(values[i], values[j], i * 16777213, (i * 1234567ull + j + 1) * 9007199254740997ull);
            }
            rounded(values[i], values[(i * 7 + k) % N]);
        }
        long long n = 1;
        for (int i = 0; i < 64; i++, n *= 3) integers(n), integers(-n), integers(n >> 7);
        /* Environments contain the mode. */
        double before = one / three;
        number(feholdexcept(&second)), number(fegetround());
        number(fesetround(FE_UPWARD)), real(one / three);
        number(feupdateenv(&second)), number(fegetround()), number(before == one / three);
        number(fesetenv(FE_DFL_ENV)), number(fegetround()), real(one / three);
        number(fesetenv(&second)), number(fegetround()), real(one / three);
        number(fesetenv(&first)), number(fegetround()), real(one / three);
    }
    report(hash);
}
