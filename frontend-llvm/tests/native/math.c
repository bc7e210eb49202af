// math.h, for float, double and long double.
#include "harness.h"

// The payload and the sign of a NaN are not modelled. On 32-bit x86, functions may return more precision than their type
// has, so results are stored in volatile variables.
#define SEE(T, expression)                                                                                           \
    {                                                                                                                \
        volatile T result = (expression);                                                                            \
        see_real(result);                                                                                            \
    }

#define ONE(T, X, name, RANDOM)                                                                                      \
    DRIVER(name##X) {                                                                                                \
        T x = RANDOM();                                                                                              \
        say(#name #X "(%La)", (long double)x);                                                                       \
        SEE(T, LIB(name##X)(x))                                                                                      \
    }
#define TWO_OF(T, X, name, RANDOM, U, RANDOM_SECOND)                                                                 \
    DRIVER(name##X) {                                                                                                \
        T x = RANDOM();                                                                                              \
        U y = random_below(8) ? (U)RANDOM_SECOND() : (U)x;                                                           \
        say(#name #X "(%La, %La)", (long double)x, (long double)y);                                                  \
        SEE(T, LIB(name##X)(x, y))                                                                                   \
    }
#define TWO(T, X, name, RANDOM) TWO_OF(T, X, name, RANDOM, T, RANDOM)
// A zero may have either sign, as C permits.
#define EITHER_ZERO(T, X, name, RANDOM)                                                                              \
    DRIVER(name##X) {                                                                                                \
        T x = RANDOM(), y = random_below(8) ? RANDOM() : x;                                                          \
        say(#name #X "(%La, %La)", (long double)x, (long double)y);                                                  \
        SEE(T, LIB(name##X)(x, y) + (T)0)                                                                            \
    }
#define IEEE_REMAINDER(T, X, name, RANDOM)                                                                           \
    DRIVER(name##X) {                                                                                                \
        T x = RANDOM(), y = random_below(8) ? RANDOM() : x;                                                          \
        if (random_below(8) == 0) { /* two remainders are as near */                                                 \
            y = random_below(1 << 12) + 1.0;                                                                         \
            x = (random_below(1u << random_below(32)) + (T)0.5) * y;                                                 \
        }                                                                                                            \
        T r = fabsl(fmodl(x, y)), ay = fabsl(y);                                                                     \
        if (sizeof(T) == 8 && (ay < 0x1p-970 || (r == ay - r && fabsl(x) / ay >= 0x1p19)))                           \
            may_approximate();                                                                                       \
        say(#name #X "(%La, %La)", (long double)x, (long double)y);                                                 \
        SEE(T, LIB(name##X)(x, y))                                                                                   \
    }
#define INTEGER(T, X, name, RANDOM)                                                                                  \
    DRIVER(name##X) {                                                                                                \
        T x = RANDOM();                                                                                              \
        say(#name #X "(%La)", (long double)x);                                                                       \
        see(LIB(name##X)(x));                                                                                        \
    }
#define CLASS(T, X, name, RANDOM)                                                                                    \
    DRIVER(name##X) {                                                                                                \
        T x = RANDOM();                                                                                              \
        see(LIB(name##X)(x));                                                                                        \
    }

static int scale(void) {
    return random_below(2) ? (int)random_below(80) - 40 : random_below(4) ? (int)random_below(5000) - 2500
           : (int)random_bits() >> random_below(18);
}

extern int __isnan(double), __isnanf(float), __isnanl(long double), __isinf(double), __isinff(float),
    __isinfl(long double), __finite(double), __finitef(float), __finitel(long double), __fpclassify(double),
    __fpclassifyf(float), __fpclassifyl(long double), __signbit(double), __signbitf(float), __signbitl(long double);

#define EXACT(T, X, RANDOM)                                                                                          \
    ONE(T, X, fabs, RANDOM)                                                                                          \
    ONE(T, X, ceil, RANDOM)                                                                                          \
    ONE(T, X, floor, RANDOM)                                                                                         \
    ONE(T, X, trunc, RANDOM)                                                                                         \
    ONE(T, X, rint, RANDOM)                                                                                          \
    ONE(T, X, nearbyint, RANDOM)                                                                                     \
    ONE(T, X, round, RANDOM)                                                                                         \
    ONE(T, X, roundeven, RANDOM)                                                                                     \
    ONE(T, X, sqrt, RANDOM)                                                                                          \
    ONE(T, X, logb, RANDOM)                                                                                          \
    TWO(T, X, copysign, RANDOM)                                                                                      \
    TWO(T, X, fdim, RANDOM)                                                                                          \
    TWO(T, X, fmod, RANDOM)                                                                                          \
    IEEE_REMAINDER(T, X, remainder, RANDOM)                                                                          \
    IEEE_REMAINDER(T, X, drem, RANDOM)                                                                               \
    TWO(T, X, nextafter, RANDOM)                                                                                     \
    TWO_OF(T, X, nexttoward, RANDOM, long double, random_longdouble)                                                 \
    TWO_OF(T, X, ldexp, RANDOM, int, scale)                                                                          \
    TWO_OF(T, X, scalbn, RANDOM, int, scale)                                                                         \
    TWO_OF(T, X, scalbln, RANDOM, long, random_integer)                                                              \
    EITHER_ZERO(T, X, fmin, RANDOM)                                                                                  \
    EITHER_ZERO(T, X, fmax, RANDOM)                                                                                  \
    INTEGER(T, X, lrint, RANDOM)                                                                                     \
    INTEGER(T, X, lround, RANDOM)                                                                                    \
    INTEGER(T, X, llrint, RANDOM)                                                                                    \
    INTEGER(T, X, llround, RANDOM)                                                                                   \
    INTEGER(T, X, ilogb, RANDOM)                                                                                     \
    CLASS(T, X, isnan, RANDOM)                                                                                       \
    CLASS(T, X, isinf, RANDOM)                                                                                       \
    CLASS(T, X, finite, RANDOM)                                                                                      \
    CLASS(T, X, __isnan, RANDOM)                                                                                     \
    CLASS(T, X, __isinf, RANDOM)                                                                                     \
    CLASS(T, X, __finite, RANDOM)                                                                                    \
    CLASS(T, X, __fpclassify, RANDOM)                                                                                \
    DRIVER(__signbit##X) {                                                                                           \
        T x = RANDOM();                                                                                              \
        see(LIB(__signbit##X)(x) != 0);                                                                              \
    }                                                                                                                \
    DRIVER(nan##X) {                                                                                                 \
        may_approximate();                                                                                           \
        SEE(T, LIB(nan##X)(ONE_OF("", "1", "0x7", "abc", "-1")))                                                     \
    }                                                                                                                \
    DRIVER(fma##X) {                                                                                                 \
        T x = RANDOM(), y = RANDOM(), z = random_below(3) ? RANDOM() : -x * y;                                       \
        say("fma" #X "(%La, %La, %La)", (long double)x, (long double)y, (long double)z);                             \
        SEE(T, LIB(fma##X)(x, y, z))                                                                                 \
    }                                                                                                                \
    DRIVER(modf##X) {                                                                                                \
        T x = RANDOM(), whole = 7;                                                                                   \
        say("modf" #X "(%La)", (long double)x);                                                                      \
        SEE(T, LIB(modf##X)(x, &whole))                                                                              \
        see_real(whole);                                                                                             \
    }                                                                                                                \
    DRIVER(frexp##X) {                                                                                               \
        T x = RANDOM();                                                                                              \
        int exponent = 7777;                                                                                         \
        say("frexp" #X "(%La)", (long double)x);                                                                     \
        SEE(T, LIB(frexp##X)(x, &exponent))                                                                          \
        see(exponent);                                                                                               \
    }                                                                                                                \
    DRIVER(remquo##X) {                                                                                              \
        T x = RANDOM(), y = random_below(8) ? RANDOM() : x;                                                          \
        int quotient = 77;                                                                                           \
        if (sizeof(void *) == 4 && (x - x != 0 || y != y || y == 0))                                                 \
            may_approximate();                                                                                       \
        say("remquo" #X "(%La, %La)", (long double)x, (long double)y);                                               \
        SEE(T, LIB(remquo##X)(x, y, &quotient))                                                                      \
        see(quotient);                                                                                               \
    }

EXACT(float, f, random_float)
EXACT(double, , random_double)
EXACT(long double, l, random_longdouble)

// Functions that are approximated: for numbers of any magnitude, and for numbers that are typical for programs.
#define APPROXIMATE(T, X, name, RANDOM)                                                                              \
    DRIVER(name##X) {                                                                                                \
        may_approximate();                                                                                           \
        T x = random_below(4) ? (T)(RANDOM() / (T)(1ull << random_below(63))) : RANDOM();                            \
        say(#name #X "(%La)", (long double)x);                                                                       \
        SEE(T, LIB(name##X)(x))                                                                                      \
    }
#define APPROXIMATE_TWO(T, X, name, RANDOM)                                                                          \
    DRIVER(name##X) {                                                                                                \
        may_approximate();                                                                                           \
        T x = RANDOM(), y = random_below(8) ? RANDOM() : x;                                                          \
        if (random_below(2)) {                                                                                       \
            x = (T)((int)random_below(401) - 200) / (T)8;                                                            \
            y = (T)((int)random_below(401) - 200) / (T)4;                                                            \
        }                                                                                                            \
        say(#name #X "(%La, %La)", (long double)x, (long double)y);                                                  \
        SEE(T, LIB(name##X)(x, y))                                                                                   \
    }
#define APPROXIMATED(T, X, RANDOM)                                                                                   \
    APPROXIMATE(T, X, sin, RANDOM)                                                                                   \
    APPROXIMATE(T, X, cos, RANDOM)                                                                                   \
    APPROXIMATE(T, X, tan, RANDOM)                                                                                   \
    APPROXIMATE(T, X, asin, RANDOM)                                                                                  \
    APPROXIMATE(T, X, acos, RANDOM)                                                                                  \
    APPROXIMATE(T, X, atan, RANDOM)                                                                                  \
    APPROXIMATE(T, X, sinh, RANDOM)                                                                                  \
    APPROXIMATE(T, X, cosh, RANDOM)                                                                                  \
    APPROXIMATE(T, X, tanh, RANDOM)                                                                                  \
    APPROXIMATE(T, X, asinh, RANDOM)                                                                                 \
    APPROXIMATE(T, X, acosh, RANDOM)                                                                                 \
    APPROXIMATE(T, X, atanh, RANDOM)                                                                                 \
    APPROXIMATE(T, X, exp, RANDOM)                                                                                   \
    APPROXIMATE(T, X, exp2, RANDOM)                                                                                  \
    APPROXIMATE(T, X, exp10, RANDOM)                                                                                 \
    APPROXIMATE(T, X, expm1, RANDOM)                                                                                 \
    APPROXIMATE(T, X, log, RANDOM)                                                                                   \
    APPROXIMATE(T, X, log2, RANDOM)                                                                                  \
    APPROXIMATE(T, X, log10, RANDOM)                                                                                 \
    APPROXIMATE(T, X, log1p, RANDOM)                                                                                 \
    APPROXIMATE(T, X, cbrt, RANDOM)                                                                                  \
    APPROXIMATE(T, X, erf, RANDOM)                                                                                   \
    APPROXIMATE(T, X, erfc, RANDOM)                                                                                  \
    APPROXIMATE(T, X, tgamma, RANDOM)                                                                                \
    APPROXIMATE_TWO(T, X, atan2, RANDOM)                                                                             \
    APPROXIMATE_TWO(T, X, hypot, RANDOM)                                                                             \
    APPROXIMATE_TWO(T, X, pow, RANDOM)                                                                               \
    DRIVER(sincos##X) {                                                                                              \
        may_approximate();                                                                                           \
        T x = RANDOM(), sine = 7, cosine = 7;                                                                        \
        say("sincos" #X "(%La)", (long double)x);                                                                    \
        LIB(sincos##X)(x, &sine, &cosine);                                                                           \
        see_real(sine);                                                                                              \
        see_real(cosine);                                                                                            \
    }                                                                                                                \
    DRIVER(lgamma##X) {                                                                                              \
        may_approximate();                                                                                           \
        T x = random_below(2) ? RANDOM() : (T)((int)random_below(401) - 200) / (T)8;                                 \
        say("lgamma" #X "(%La)", (long double)x);                                                                    \
        LIB(signgam) = 77;                                                                                  \
        SEE(T, LIB(lgamma##X)(x))                                                                                    \
        see(LIB(signgam));                                                                                  \
    }                                                                                                                \
    DRIVER(lgamma##X##_r) {                                                                                          \
        may_approximate();                                                                                           \
        int sign = 77;                                                                                               \
        T x = random_below(2) ? RANDOM() : (T)((int)random_below(401) - 200) / (T)8;                                 \
        say("lgamma" #X "_r(%La)", (long double)x);                                                                  \
        LIB(signgam) = 77;                                                                                  \
        SEE(T, LIB(lgamma##X##_r)(x, &sign))                                                                         \
        see(sign);                                                                                                   \
        see(LIB(signgam));                                                                                  \
    }

APPROXIMATED(float, f, random_float)
APPROXIMATED(double, , random_double)
APPROXIMATED(long double, l, random_longdouble)
