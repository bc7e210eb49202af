#define _GNU_SOURCE
#include "harness.h"
#include <float.h>

// Not a signalling NaN.
static long double quiet(long double x) { return x != x ? x + x : x; }

// Bits that mean something: small numbers, halves, powers of two and their neighbours, and any bits.
static double random_double(void) {
    union {
        uint64_t bits;
        double value;
    } u;
    static const double special[] = {0.0,     -0.0, 1.0,     -1.0,        INFINITY, -INFINITY, NAN,
                                     DBL_MIN, 0.5,  DBL_MAX, 0x1p-1074, -0.5,    2.5,       0x1.fffffffffffffp-1023};
    switch (random_below(8)) {
    case 0:
        return special[random_below(14)];
    case 1:
        return (double)(int)random_below(200) - 100;
    case 2:
        return ((double)(int)random_below(200) - 100) / 2;
    case 3:
        u.value = ldexp(1, (int)random_below(2200) - 1100);
        u.bits += random_below(3) - 1;
        return quiet(u.value);
    case 4:
        return (double)(int64_t)random_bits() / 0x1p32;
    default:
        u.bits = random_bits();
        return quiet(u.value);
    }
}

static float random_float(void) {
    union {
        uint32_t bits;
        float value;
    } u = {random_bits()};
    if (random_below(3) == 0) {
        u.value = ldexpf(1, (int)random_below(310) - 160);
        u.bits += random_below(3) - 1;
    }
    return random_below(2) ? (float)random_double() : (float)quiet(u.value);
}

static long double random_longdouble(void) {
    union {
        struct {
            uint64_t fraction;
            uint16_t exponent;
        } bits;
        long double value;
    } u = {{random_bits(), random_bits()}};
    // Encodings that numbers have: the leading bit says that the exponent is not 0.
    u.bits.fraction = u.bits.exponent & 0x7fff ? u.bits.fraction | 1ull << 63 : u.bits.fraction & ~(1ull << 63);
    switch (random_below(4)) {
    case 0:
        return random_double();
    case 1:
        u.value = ldexpl(1, (int)random_below(33000) - 16500);
        return u.value;
    case 2:
        u.value = ldexpl(1, (int)random_below(33000) - 16500);
        return random_below(2) ? nextafterl(u.value, 0) : nextafterl(u.value, INFINITY);
    default:
        return quiet(u.value);
    }
}

static int same(long double a, long double b) {
    return a != a ? b != b : a == b && !signbit(a) == !signbit(b);
}

// The C library's `remainder` by a tiny number does not give a zero the sign of the dividend.
static int wrong_zero(const char *name, long double y) {
    return (!strcmp(name, "remainder") || !strcmp(name, "drem")) && fabsl(y) < 0x1p-900L;
}

// A model that is exact: the same number (any NaN is as good as another), the same errno.
#define ONE(T, X, name, RANDOM)                                                                                      \
    {                                                                                                                \
        extern T model_##name##X(T);                                                                                 \
        T x = RANDOM();                                                                                              \
        START;                                                                                                       \
        T real = name##X(x), model = model_##name##X(x);                                                             \
        EXPECT(same(real, model), #name #X "(%La): %La, model %La", (long double)x, (long double)real,               \
               (long double)model);                                                                                  \
        EXPECT(!approximated, #name #X " is exact");                                                                 \
        EXPECT(errno == *model___errno_location(), #name #X "(%La): errno %d, model %d", (long double)x, errno,      \
               *model___errno_location());                                                                           \
    }
#define TWO_WITH(T, X, name, RANDOM, U, RANDOM2)                                                              \
    {                                                                                                                \
        extern T model_##name##X(T, U);                                                                              \
        T x = RANDOM();                                                                                              \
        U y = random_below(8) ? RANDOM2() : (U)x;                                                                    \
        START;                                                                                                       \
        T real = name##X(x, y), model = model_##name##X(x, y);                                                       \
        EXPECT(same(real, model) || (wrong_zero(#name, y) && real == model), #name #X "(%La, %La): %La, model %La",  \
               (long double)x, (long double)y, (long double)real, (long double)model);                               \
        EXPECT(!approximated, #name #X " is exact");                                                                 \
        EXPECT(errno == *model___errno_location(), #name #X "(%La, %La) = %La: errno %d, model %d",        \
               (long double)x, (long double)y, (long double)real, errno, *model___errno_location());                 \
    }
#define TWO(T, X, name, RANDOM) TWO_WITH(T, X, name, RANDOM, T, RANDOM)
#define INTEGER(R, T, X, name, RANDOM)                                                                               \
    {                                                                                                                \
        extern R model_##name##X(T);                                                                                 \
        T x = RANDOM();                                                                                              \
        R real = name##X(x), model = model_##name##X(x);                                                             \
        EXPECT(real == model, #name #X "(%La): %lld, model %lld", (long double)x, (long long)real,                   \
               (long long)model);                                                                                    \
    }

static int random_exponent(void) {
    return random_below(2) ? (int)random_below(80) - 40 : random_below(4) ? (int)random_below(5000) - 2500
           : (int)random_bits() >> random_below(18);
}

extern int __isnan(double), __isnanf(float), __isnanl(long double), __isinf(double), __isinff(float),
    __isinfl(long double), __finite(double), __finitef(float), __finitel(long double), __fpclassify(double),
    __fpclassifyf(float), __fpclassifyl(long double), __signbit(double), __signbitf(float), __signbitl(long double);

#define EXACT(T, X, RANDOM)                                                                                 \
    static void exact##X(void) {                                                                                     \
        ONE(T, X, fabs, RANDOM)                                                                                      \
        ONE(T, X, ceil, RANDOM)                                                                                      \
        ONE(T, X, floor, RANDOM)                                                                                     \
        ONE(T, X, trunc, RANDOM)                                                                                     \
        ONE(T, X, rint, RANDOM)                                                                                      \
        ONE(T, X, nearbyint, RANDOM)                                                                                 \
        ONE(T, X, round, RANDOM)                                                                                     \
        ONE(T, X, roundeven, RANDOM)                                                                                 \
        ONE(T, X, sqrt, RANDOM)                                                                                      \
        ONE(T, X, logb, RANDOM)                                                                                      \
        TWO(T, X, copysign, RANDOM)                                                                                  \
        TWO(T, X, fdim, RANDOM)                                                                                      \
        TWO(T, X, fmod, RANDOM)                                                                                      \
        TWO(T, X, remainder, RANDOM)                                                                                 \
        TWO(T, X, drem, RANDOM)                                                                                      \
        TWO(T, X, nextafter, RANDOM)                                                                                 \
        TWO_WITH(T, X, nexttoward, RANDOM, long double, random_longdouble)                                        \
        TWO_WITH(T, X, ldexp, RANDOM, int, random_exponent)                                                       \
        TWO_WITH(T, X, scalbn, RANDOM, int, random_exponent)                                                      \
        TWO_WITH(T, X, scalbln, RANDOM, long, random_exponent)                                                    \
        INTEGER(long, T, X, lrint, RANDOM)                                                                           \
        INTEGER(long, T, X, lround, RANDOM)                                                                          \
        INTEGER(long long, T, X, llrint, RANDOM)                                                                     \
        INTEGER(long long, T, X, llround, RANDOM)                                                                    \
        INTEGER(int, T, X, ilogb, RANDOM)                                                                            \
        INTEGER(int, T, X, __isinf, RANDOM)                                                                          \
        INTEGER(int, T, X, __finite, RANDOM)                                                                         \
        INTEGER(int, T, X, __fpclassify, RANDOM)                                                                     \
        T x = RANDOM(), y = random_below(4) ? RANDOM() : x, z = RANDOM();                                            \
        /* Which zero fmin and fmax give is open. */                                                                 \
        extern int model___signbit##X(T);                                                                            \
        extern int model___isnan##X(T);                                                                              \
        EXPECT(!__isnan##X(x) == !model___isnan##X(x), "__isnan" #X);                                                \
        EXPECT(!__signbit##X(x) == !model___signbit##X(x), "__signbit" #X);                                          \
        extern T model_fmin##X(T, T), model_fmax##X(T, T), model_fma##X(T, T, T);                                    \
        T low = fmin##X(x, y), model_low = model_fmin##X(x, y);                                                      \
        EXPECT(low == model_low || (low != low && model_low != model_low), "fmin" #X "(%La, %La): %La, model %La", (long double)x, (long double)y, (long double)low, (long double)model_low); \
        T high = fmax##X(x, y), model_high = model_fmax##X(x, y);                                                    \
        EXPECT(high == model_high || (high != high && model_high != model_high), "fmax" #X);                         \
        EXPECT(same(fma##X(x, y, z), model_fma##X(x, y, z)), "fma" #X);                                              \
        extern T model_modf##X(T, T *), model_frexp##X(T, int *), model_remquo##X(T, T, int *);                      \
        T whole = 0, model_whole = 0;                                                                                \
        T part = modf##X(x, &whole), model_part = model_modf##X(x, &model_whole);                                    \
        EXPECT(same(part, model_part) && same(whole, model_whole), "modf" #X "(%La)", (long double)x);               \
        int exponent = 0, model_exponent = 0;                                                                        \
        part = frexp##X(x, &exponent);                                                                               \
        model_part = model_frexp##X(x, &model_exponent);                                                             \
        EXPECT(same(part, model_part) && exponent == model_exponent, "frexp" #X "(%La): %La %d, model %La %d",       \
               (long double)x, (long double)part, exponent, (long double)model_part, model_exponent);                \
        int quotient = 0, model_quotient = 0;                                                                        \
        part = remquo##X(x, y, &quotient);                                                                           \
        model_part = model_remquo##X(x, y, &model_quotient);                                                         \
        EXPECT(same(part, model_part), "remquo" #X "(%La, %La): %La, model %La", (long double)x, (long double)y,     \
               (long double)part, (long double)model_part);                                                          \
        EXPECT(part != part || quotient % 8 == model_quotient % 8, "remquo" #X "(%La, %La): %d, model %d",           \
               (long double)x, (long double)y, quotient, model_quotient);                                            \
    }

EXACT(float, f, random_float)
EXACT(double, , random_double)
EXACT(long double, l, random_longdouble)

// Functions that are approximated: given the library's result, the facts hold; special cases are the library's.
#define FACTS(T, X, name, RANDOM)                                                                                    \
    {                                                                                                                \
        extern T model_##name##X(T);                                                                                 \
        T x = random_below(4) ? (T)(RANDOM() / (T)(1ull << random_below(63))) : RANDOM();                            \
        script = name##X(x);                                                                                         \
        if (setjmp(no_path))                                                                                         \
            mismatch(__FILE__, __LINE__, #name #X "(%La) = %La is excluded", (long double)x, script);                \
        START;                                                                                                       \
        T model = model_##name##X(x);                                                                                \
        EXPECT(same(script, model), #name #X "(%La): %La, model %La", (long double)x, script, (long double)model);   \
    }
#define FACTS_TWO(T, X, name, RANDOM)                                                                                \
    {                                                                                                                \
        extern T model_##name##X(T, T);                                                                              \
        T x = RANDOM(), y = random_below(8) ? RANDOM() : x;                                                          \
        script = name##X(x, y);                                                                                      \
        if (setjmp(no_path))                                                                                         \
            mismatch(__FILE__, __LINE__, #name #X "(%La, %La) = %La is excluded", (long double)x, (long double)y,    \
                     script);                                                                                        \
        START;                                                                                                       \
        T model = model_##name##X(x, y);                                                                             \
        EXPECT(same(script, model), #name #X "(%La, %La): %La, model %La", (long double)x, (long double)y, script,   \
               (long double)model);                                                                                  \
    }

#define APPROXIMATED(T, X, RANDOM)                                                                                   \
    static void facts##X(void) {                                                                              \
        FACTS(T, X, sin, RANDOM)                                                                                     \
        FACTS(T, X, cos, RANDOM)                                                                                     \
        FACTS(T, X, tan, RANDOM)                                                                                     \
        FACTS(T, X, asin, RANDOM)                                                                                    \
        FACTS(T, X, acos, RANDOM)                                                                                    \
        FACTS(T, X, atan, RANDOM)                                                                                    \
        FACTS(T, X, sinh, RANDOM)                                                                                    \
        FACTS(T, X, cosh, RANDOM)                                                                                    \
        FACTS(T, X, tanh, RANDOM)                                                                                    \
        FACTS(T, X, asinh, RANDOM)                                                                                   \
        FACTS(T, X, acosh, RANDOM)                                                                                   \
        FACTS(T, X, atanh, RANDOM)                                                                                   \
        FACTS(T, X, exp, RANDOM)                                                                                     \
        FACTS(T, X, exp2, RANDOM)                                                                                    \
        FACTS(T, X, exp10, RANDOM)                                                                                   \
        FACTS(T, X, expm1, RANDOM)                                                                                   \
        FACTS(T, X, log, RANDOM)                                                                                     \
        FACTS(T, X, log2, RANDOM)                                                                                    \
        FACTS(T, X, log10, RANDOM)                                                                                   \
        FACTS(T, X, log1p, RANDOM)                                                                                   \
        FACTS(T, X, cbrt, RANDOM)                                                                                    \
        FACTS(T, X, erf, RANDOM)                                                                                     \
        FACTS(T, X, erfc, RANDOM)                                                                                    \
        FACTS(T, X, tgamma, RANDOM)                                                                                  \
        FACTS(T, X, lgamma, RANDOM)                                                                                  \
        FACTS_TWO(T, X, atan2, RANDOM)                                                                               \
        FACTS_TWO(T, X, hypot, RANDOM)                                                                               \
        FACTS_TWO(T, X, pow, RANDOM)                                                                                 \
    }

APPROXIMATED(float, f, random_float)
APPROXIMATED(double, , random_double)
APPROXIMATED(long double, l, random_longdouble)

void test(void) {
    static int i;
    scripted = 1;
    script_int = EDOM;
    for (i = 0; i < 30000; i++) {
        exactf();
        exact();
        exactl();
        if (i % 4 == 0) {
            factsf();
            facts();
            factsl();
        }
    }
}
