#pragma once
#include "real.h"

// math.h, as far as IEEE 754 defines the result. `T` is the type, `X` the suffix of its functions. Exact results do not
// depend on the rounding mode. The builtins that are used are operations, not calls.

// The representation of the types: the exponent's bits are above those of the fraction (x87 has an explicit leading bit).
union proviso_bits_of_float {
    float value;
    unsigned bits;
};
union proviso_bits_of_double {
    double value;
    unsigned long long bits;
};
union proviso_bits_of_longdouble {
    long double value;
    struct {
        unsigned long long fraction;
        unsigned short exponent;
    } bits;
};

// The stored exponent: 0 for zeros and subnormals, all ones for infinities and NaNs.

static int proviso_exponentf(float x) {
    union proviso_bits_of_float u = {x};
    return u.bits >> 23 & 0xff;
}
static int proviso_exponent(double x) {
    union proviso_bits_of_double u = {x};
    return u.bits >> 52 & 0x7ff;
}
static int proviso_exponentl(long double x) {
    union proviso_bits_of_longdouble u = {x};
    return u.bits.exponent & 0x7fff;
}

// x with this stored exponent.

static float proviso_with_exponentf(float x, int exponent) {
    union proviso_bits_of_float u = {x};
    u.bits = (u.bits & 0x807fffff) | (unsigned)exponent << 23;
    return u.value;
}
static double proviso_with_exponent(double x, int exponent) {
    union proviso_bits_of_double u = {x};
    u.bits = (u.bits & 0x800fffffffffffff) | (unsigned long long)exponent << 52;
    return u.value;
}
static long double proviso_with_exponentl(long double x, int exponent) {
    union proviso_bits_of_longdouble u = {x};
    u.bits.exponent = (u.bits.exponent & 0x8000) | exponent;
    return u.value;
}

// The neighbour of a finite positive number (or of zero, upwards).

static float proviso_upf(float x) {
    union proviso_bits_of_float u = {x};
    u.bits++;
    return u.value;
}
static double proviso_up(double x) {
    union proviso_bits_of_double u = {x};
    u.bits++;
    return u.value;
}
static long double proviso_upl(long double x) {
    union proviso_bits_of_longdouble u = {x};
    u.bits.fraction++;
    // Carries from the greatest fraction, and from the greatest subnormal to the smallest normal number.
    if (u.bits.fraction == 0 || (u.bits.exponent == 0 && u.bits.fraction >> 63)) {
        u.bits.fraction |= 0x8000000000000000;
        u.bits.exponent++;
    }
    return u.value;
}
static float proviso_downf(float x) {
    union proviso_bits_of_float u = {x};
    u.bits--;
    return u.value;
}
static double proviso_down(double x) {
    union proviso_bits_of_double u = {x};
    u.bits--;
    return u.value;
}
static long double proviso_downl(long double x) {
    union proviso_bits_of_longdouble u = {x};
    _Bool at_power = u.bits.fraction == 0x8000000000000000;
    u.bits.fraction--;
    if (at_power && u.bits.exponent > 0) {
        u.bits.exponent--;
        if (u.bits.exponent > 0)
            u.bits.fraction |= 0x8000000000000000;
    }
    return u.value;
}

#define OPERATIONS(T, X)                                                                                             \
    T F(fabs, X)(T x) { return F(__builtin_fabs, X)(x); }                                                            \
    T F(ceil, X)(T x) { return F(__builtin_ceil, X)(x); }                                                            \
    T F(floor, X)(T x) { return F(__builtin_floor, X)(x); }                                                          \
    T F(trunc, X)(T x) { return F(__builtin_trunc, X)(x); }                                                          \
    T F(rint, X)(T x) { IN_MODE return F(__builtin_rint, X)(x); }                                                    \
    T F(nearbyint, X)(T x) { IN_MODE return F(__builtin_nearbyint, X)(x); }                                          \
    T F(round, X)(T x) { return F(__builtin_round, X)(x); }                                                          \
    T F(roundeven, X)(T x) { return F(__builtin_roundeven, X)(x); }                                                  \
    T F(fma, X)(T x, T y, T z) { IN_MODE return F(__builtin_fma, X)(x, y, z); }                                      \
    T F(copysign, X)(T x, T y) { return F(__builtin_copysign, X)(x, y); }                                            \
    T F(fmin, X)(T x, T y) { return F(__builtin_fmin, X)(x, y); }                                                    \
    T F(fmax, X)(T x, T y) { return F(__builtin_fmax, X)(x, y); }                                                    \
    T F(sqrt, X)(T x) {                                                                                              \
        IN_MODE                                                                                                      \
        SET_ERRNO_IF(x < 0, EDOM);                                                                                   \
        return F(__builtin_sqrt, X)(x);                                                                              \
    }                                                                                                                \
    T F(fdim, X)(T x, T y) {                                                                                         \
        IN_MODE                                                                                                      \
        if (x <= y)                                                                                                  \
            return 0;                                                                                                \
        T difference = x - y;                                                                                        \
        SET_ERRNO_IF(difference == INFINITE(T, X) && x < INFINITE(T, X) && y > -INFINITE(T, X), ERANGE);             \
        return difference;                                                                                           \
    }                                                                                                                \
    T F(fmod, X)(T x, T y) {                                                                                         \
        SET_ERRNO_IF((y == 0 && !IS_NAN(x)) || (F(__builtin_fabs, X)(x) == INFINITE(T, X) && !IS_NAN(y)), EDOM);     \
        return F(__builtin_fmod, X)(x, y);                                                                           \
    }                                                                                                                \
    /* Out of range, x86 returns the least integer. */                                                               \
    long F(lrint, X)(T x) { IN_MODE return F(__builtin_rint, X)(x); }                                                \
    long F(lround, X)(T x) { return F(__builtin_round, X)(x); }                                                      \
    long long F(llrint, X)(T x) { IN_MODE return F(__builtin_rint, X)(x); }                                          \
    long long F(llround, X)(T x) { return F(__builtin_round, X)(x); }                                                \
    T F(modf, X)(T x, T *integer) {                                                                                  \
        T whole = F(__builtin_trunc, X)(x);                                                                          \
        *integer = whole;                                                                                            \
        return F(__builtin_copysign, X)(F(__builtin_fabs, X)(x) == INFINITE(T, X) ? 0 : x - whole, x);               \
    }                                                                                                                \
    T F(nan, X)(const char *tag) {                                                                                   \
        if (*tag) {                                                                                                  \
            proviso_strlen(tag);                                                                                     \
            __proviso_overapproximated("the payload of a NaN is not modelled exactly");                              \
            T value = F(proviso_any, X)();                                                                           \
            __proviso_assume(IS_NAN(value));                                                                         \
            return value;                                                                                            \
        }                                                                                                            \
        return F(__builtin_nan, X)("");                                                                              \
    }

// Remainders. With r = |x| mod |y|, exact, the remainder is r or r - |y|, whichever is nearer to 0. In a tie,
// it is the one with the even quotient. Both r and |y| - r are exact if it matters: for r >= |y|/2 the
// difference is exact (Sterbenz), and for smaller r it cannot round down to r. `*quotient` becomes the C
// library's value: up to 8 (in 32-bit code 7), with the sign of the quotient. It is unchanged if there is no
// quotient.
#define REMAINDERS(T, X, MAX)                                                                                        \
    static T F(proviso_remainder, X)(T x, T y, int *quotient) {                                                      \
        T ax = F(__builtin_fabs, X)(x), ay = F(__builtin_fabs, X)(y);                                                \
        if (IS_NAN(x) || IS_NAN(y) || ax == INFINITE(T, X) || y == 0)                                                \
            return IS_NAN(x) ? x + x : IS_NAN(y) ? y + y : F(__builtin_nan, X)("");                                  \
        *quotient = 0;                                                                                               \
        if (ay == INFINITE(T, X))                                                                                    \
            return x;                                                                                                \
        T r = ay <= MAX / 8 ? F(__builtin_fmod, X)(ax, 8 * ay) : ax;                                                 \
        int low = 0;                                                                                                 \
        for (int bit = 4; bit > 0; bit /= 2) {                                                                       \
            if (ay <= MAX / bit && r >= bit * ay) {                                                                  \
                r -= bit * ay;                                                                                       \
                low += bit;                                                                                          \
            }                                                                                                        \
        }                                                                                                            \
        if (r > ay - r || (r == ay - r && low % 2 == 1)) {                                                           \
            r -= ay;                                                                                                 \
            low++;                                                                                                   \
        }                                                                                                            \
        _Bool negative = __builtin_signbit(x), opposite = negative != (__builtin_signbit(y) != 0);                   \
        low = sizeof(void *) == 4 ? low & 7 : low;                                                                   \
        *quotient = opposite ? -low : low;                                                                           \
        /* Versions of the library differ here. */                                                                   \
        if (r == 0 && ROUNDS_DOWN)                                                                                   \
            __proviso_unmodelled("the sign of a remainder of zero when rounding down is not modelled");              \
        return r == 0 ? F(__builtin_copysign, X)(0, x) : negative ? -r : r;                                          \
    }                                                                                                                \
    /* For a tiny divisor, versions of the library return a zero of either sign. */                                  \
    static T F(proviso_ieee_remainder, X)(T x, T y) {                                                                \
        int quotient;                                                                                                \
        SET_ERRNO_IF((y == 0 && !IS_NAN(x)) || (F(__builtin_fabs, X)(x) == INFINITE(T, X) && !IS_NAN(y)), EDOM);     \
        T r = F(proviso_remainder, X)(x, y, &quotient);                                                              \
        if (sizeof(T) == 8 && r == 0 && y < 0x1p-970 && y > -0x1p-970) {                                             \
            __proviso_overapproximated("the sign of a remainder of zero is not modelled exactly");                   \
            r = __proviso_env_bool() ? 0.0 : -0.0;                                                                   \
        }                                                                                                            \
        /* For a large quotient, versions of the library break ties either way. */                                  \
        T ar = F(__builtin_fabs, X)(r), ay = F(__builtin_fabs, X)(y);                                                \
        if (sizeof(T) == 8 && ar != 0 && ar == ay - ar && F(__builtin_fabs, X)(x) / ay >= 0x1p20) {                  \
            __proviso_overapproximated("a remainder of half the divisor is not modelled exactly");                   \
            r = __proviso_env_bool() ? r : -r;                                                                       \
        }                                                                                                            \
        return r;                                                                                                    \
    }                                                                                                                \
    T F(remainder, X)(T x, T y) { return F(proviso_ieee_remainder, X)(x, y); }                                       \
    T F(drem, X)(T x, T y) { return F(proviso_ieee_remainder, X)(x, y); }                                            \
    T F(remquo, X)(T x, T y, int *quotient) {                                                                        \
        T r = F(proviso_remainder, X)(x, y, quotient);                                                               \
        /* Without a quotient, the x87 leaves an arbitrary value. */                                                 \
        if (IS_NAN(r) && sizeof(void *) == 4) {                                                                      \
            __proviso_overapproximated("the quotient of an invalid remquo is not modelled exactly");                 \
            *quotient = proviso_env_between(-7, 7);                                                                  \
        }                                                                                                            \
        return r;                                                                                                    \
    }

// Exponents. `BIAS` is the stored exponent of 1, `DIGITS` the bits of the significand.
#define SCALING(T, X, BIAS, DIGITS)                                                                                  \
    static T F(proviso_power, X)(int n) { return F(proviso_with_exponent, X)(1, BIAS + n); }                         \
    /* Going up is exact until it overflows. Going down, only the last step may be one that rounds: where an         \
       earlier one does, the result is far below the smallest subnormal. */                                          \
    static T F(proviso_scale, X)(T x, long n) {                                                                      \
        IN_MODE                                                                                                      \
        T scaled = x;                                                                                                \
        for (int i = 0; i < 2 && n > BIAS; i++) {                                                                    \
            scaled *= F(proviso_power, X)(BIAS);                                                                     \
            n -= BIAS;                                                                                               \
        }                                                                                                            \
        for (int i = 0; i < 2 && n < 1 - BIAS; i++) {                                                                \
            scaled *= F(proviso_power, X)(DIGITS + 1 - BIAS);                                                        \
            n += BIAS - DIGITS - 1;                                                                                  \
        }                                                                                                            \
        n = n > BIAS ? BIAS : n < 1 - BIAS ? 1 - BIAS : n;                                                           \
        scaled *= F(proviso_power, X)(n);                                                                            \
        SET_ERRNO_IF(x != 0 && !IS_NAN(x) && F(__builtin_fabs, X)(x) != INFINITE(T, X) &&                            \
                         (scaled == 0 || F(__builtin_fabs, X)(scaled) == INFINITE(T, X)),                            \
                     ERANGE);                                                                                        \
        return scaled;                                                                                               \
    }                                                                                                                \
    T F(ldexp, X)(T x, int n) { return F(proviso_scale, X)(x, n); }                                                  \
    T F(scalbn, X)(T x, int n) { return F(proviso_scale, X)(x, n); }                                                 \
    T F(scalbln, X)(T x, long n) { return F(proviso_scale, X)(x, n); }                                               \
    /* For finite numbers other than zero: the exponent, and with it in `*fraction` a number from 1 to 2. */         \
    static int F(proviso_split, X)(T x, T *fraction) {                                                               \
        int exponent = F(proviso_exponent, X)(x) - BIAS;                                                             \
        if (exponent == -BIAS) {                                                                                     \
            x *= F(proviso_power, X)(DIGITS);                                                                        \
            exponent = F(proviso_exponent, X)(x) - BIAS - DIGITS;                                                    \
        }                                                                                                            \
        *fraction = F(proviso_with_exponent, X)(x, BIAS);                                                            \
        return exponent;                                                                                             \
    }                                                                                                                \
    T F(frexp, X)(T x, int *exponent) {                                                                              \
        *exponent = 0;                                                                                               \
        if (x == 0 || F(proviso_exponent, X)(x) == 2 * BIAS + 1)                                                     \
            return x + x;                                                                                            \
        T fraction;                                                                                                  \
        *exponent = F(proviso_split, X)(x, &fraction) + 1;                                                           \
        return fraction / 2;                                                                                         \
    }                                                                                                                \
    T F(logb, X)(T x) {                                                                                              \
        if (x == 0)                                                                                                  \
            return -INFINITE(T, X);                                                                                  \
        if (F(proviso_exponent, X)(x) == 2 * BIAS + 1)                                                               \
            return x * x;                                                                                            \
        T fraction;                                                                                                  \
        return F(proviso_split, X)(x, &fraction);                                                                    \
    }                                                                                                                \
    int F(ilogb, X)(T x) {                                                                                           \
        if (x == 0 || F(proviso_exponent, X)(x) == 2 * BIAS + 1) {                                                   \
            SET_ERRNO(EDOM);                                                                                         \
            return x == 0 || IS_NAN(x) ? -INT_MAX - 1 : INT_MAX;                                                     \
        }                                                                                                            \
        T fraction;                                                                                                  \
        return F(proviso_split, X)(x, &fraction);                                                                    \
    }                                                                                                                \
    /* The neighbour of x towards y. */                                                                              \
    static T F(proviso_next, X)(T x, long double y) {                                                                \
        if (IS_NAN(x) || IS_NAN(y))                                                                                  \
            return x + (T)y;                                                                                         \
        if (x == y)                                                                                                  \
            return y;                                                                                                \
        _Bool negative = x < 0 || (x == 0 && y < x);                                                                 \
        T magnitude = F(__builtin_fabs, X)(x);                                                                       \
        _Bool away = negative ? y < x : y > x;                                                                       \
        T next = away ? F(proviso_up, X)(magnitude) : F(proviso_down, X)(magnitude);                                 \
        SET_ERRNO_IF(x != 0 && (next == INFINITE(T, X) || F(proviso_exponent, X)(next) == 0), ERANGE);               \
        return negative ? -next : next;                                                                              \
    }                                                                                                                \
    T F(nextafter, X)(T x, T y) { return F(proviso_next, X)(x, y); }                                                 \
    T F(nexttoward, X)(T x, long double y) { return F(proviso_next, X)(x, y); }

// Classes: the functions that the macros of old headers call, with the results of the GNU C library. `NAN` is the
// result of `isnan` for a NaN.
#define CLASSES(T, X, BIAS, NAN)                                                                                       \
    static int F(proviso_isinf, X)(T x) { return (x == INFINITE(T, X)) - (x == -INFINITE(T, X)); }                   \
    int F(isnan, X)(T x) { return IS_NAN(x) * NAN; }                                                                 \
    int F(__isnan, X)(T x) { return IS_NAN(x) * NAN; }                                                               \
    int F(isinf, X)(T x) { return F(proviso_isinf, X)(x); }                                                          \
    int F(__isinf, X)(T x) { return F(proviso_isinf, X)(x); }                                                        \
    int F(finite, X)(T x) { return x - x == 0; }                                                                     \
    int F(__finite, X)(T x) { return x - x == 0; }                                                                   \
    int F(__signbit, X)(T x) { return __builtin_signbit(x) != 0; }                                                   \
    int F(__fpclassify, X)(T x) {                                                                                    \
        int exponent = F(proviso_exponent, X)(x);                                                                    \
        _Bool zero = x == 0, top = exponent == 2 * BIAS + 1;                                                         \
        /* NaN 0, infinite 1, zero 2, subnormal 3, normal 4. */                                                      \
        return IS_NAN(x) ? 0 : top ? 1 : zero ? 2 : exponent == 0 ? 3 : 4;                                           \
    }
