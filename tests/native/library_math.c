/* math.h, as far as IEEE 754 defines the result: the bits of results, for float, double and long double. */
#include "report.h"
#include <errno.h>
#include <math.h>
#include <string.h>

static unsigned hash = 1;
static void number(long long x) { hash = fold(hash, x); }
static void real(double x) {
    unsigned long long bits = 0;
    if (x == x) memcpy(&bits, &x, sizeof x);
    hash = fold(hash, bits);
}
/* The 32-bit C library returns some floats with more precision than they have. */
static float narrow(volatile float x) { return x; }
static void extended(long double x) { real(x), real(x - (double)x); }

static const double values[] = {0.0, -0.0, 0.5, -0.5, 1, -1, 1.5, 2.5, -3.5, 1e10, -1e-10, 123456.789, 4503599627370497.5, 1e300,
                                -1e-300, 4.9e-324, INFINITY, -INFINITY, NAN, 0.1, 3, 7};
enum { N = sizeof values / sizeof *values };

int main(void) {
    for (int i = 0; i < N; i++) {
        double x = values[i];
        float f = x;
        long double l = x / 3.0L;
        real(floor(x)), real(ceil(x)), real(trunc(x)), real(round(x)), real(rint(x)), real(nearbyint(x)), real(fabs(x));
        real(floorf(f)), real(ceilf(f)), real(truncf(f)), real(roundf(f)), real(rintf(f)), real(fabsf(f));
        extended(floorl(l)), extended(ceill(l)), extended(roundl(l)), extended(rintl(l)), extended(sqrtl(fabsl(l)));
        errno = 0;
        real(sqrt(x)), number(errno), real(narrow(sqrtf(f)));
        int e = 0;
        real(frexp(x, &e)), number(e);
        double whole = 0;
        real(modf(x, &whole)), real(whole);
        if (x == x && fabs(x) < 1e9) number(lround(x)), number(lrint(x)), number(llround(x)), number(llrintf(f));
        real(logb(x)), number(isnan(x) != 0), number(isinf(x) != 0), number(signbit(x) != 0), number(fpclassify(x));
        number(isfinite(f) != 0), number(fpclassify(l));
        for (int n = -1100; n < 1100; n += 61) real(ldexp(x, n)), real(scalbnf(f, n / 7)), extended(ldexpl(l, n * 15));
        for (int j = 0; j < N; j++) {
            double y = values[j];
            float g = y;
            real(fmod(x, y)), real(remainder(x, y) + 0.0), real(copysign(x, y)), real(fdim(x, y)), real(nextafter(x, y));
            real(fmodf(f, g)), real(remainderf(f, g) + 0.0f), real(nextafterf(f, g)), real(fma(x, y, 0.1)), real(fmaf(f, g, 0.1f));
            if (f != 0 || g != 0) real(fmin(x, y)), real(fmax(x, y)), real(fmaxf(f, g));
            int quotient = 0;
            double r = remquo(x, y, &quotient);
            real(r + 0.0);
            if (r == r) number(quotient & 7);
            extended(fmodl(l, y)), extended(remainderl(l, y) + 0.0L), extended(nextafterl(l, y)), number(isgreater(x, y));
        }
    }
    report(hash);
}
