#pragma once
#include "transcendental.h"

// Complex numbers: the functions that compilers call for quotients, and for products whose parts are both NaN; and complex.h.
// Annex G of C defines the results for infinities. The rounding of quotients depends on the compiler's library. These models
// follow libgcc since version 12, which compilers of 64-bit code use on Linux. In 32 bits it computes in the precision of the x87.

#define MAKE(T, x, y) __builtin_complex((T)(x), (T)(y))
#define ABS(X, x) F(__builtin_fabs, X)(x)
#define IS_INF(X, x) (ABS(X, x) == __builtin_inff())
#define IS_FINITE(x) ((x) - (x) == 0)
// 1 if `x` is infinite, else 0, with the sign of `x`.
#define BOXED(X, x) F(__builtin_copysign, X)(IS_INF(X, x), x)
#define ZERO_IF_NAN(X, x) (IS_NAN(x) ? F(__builtin_copysign, X)(0, x) : (x))

#define IN_OWN_PRECISION(T, X)                                                                                       \
    if (sizeof(void *) == 4 && sizeof(T) <= 8) {                                                                     \
        __proviso_overapproximated("complex arithmetic of 32-bit code");                                             \
        return MAKE(T, F(proviso_any, X)(), F(proviso_any, X)());                                                    \
    }

#define PRODUCT(T, X, name)                                                                                          \
    T _Complex name(T a, T b, T c, T d) {                                                                            \
        IN_MODE                                                                                                      \
        IN_OWN_PRECISION(T, X)                                                                                       \
        T ac = a * c, bd = b * d, ad = a * d, bc = b * c;                                                            \
        T x = ac - bd, y = ad + bc;                                                                                  \
        if (!IS_NAN(x) || !IS_NAN(y))                                                                                \
            return MAKE(T, x, y);                                                                                    \
        _Bool first = IS_INF(X, a) || IS_INF(X, b);                                                                  \
        if (first) {                                                                                                 \
            a = BOXED(X, a), b = BOXED(X, b);                                                                        \
            c = ZERO_IF_NAN(X, c), d = ZERO_IF_NAN(X, d);                                                            \
        }                                                                                                            \
        _Bool second = IS_INF(X, c) || IS_INF(X, d);                                                                 \
        if (second) {                                                                                                \
            c = BOXED(X, c), d = BOXED(X, d);                                                                        \
            a = ZERO_IF_NAN(X, a), b = ZERO_IF_NAN(X, b);                                                            \
        }                                                                                                            \
        if (!first && !second) {                                                                                     \
            if (!IS_INF(X, ac) && !IS_INF(X, bd) && !IS_INF(X, ad) && !IS_INF(X, bc))                                \
                return MAKE(T, x, y);                                                                                \
            a = ZERO_IF_NAN(X, a), b = ZERO_IF_NAN(X, b);                                                            \
            c = ZERO_IF_NAN(X, c), d = ZERO_IF_NAN(X, d);                                                            \
        }                                                                                                            \
        const T inf = __builtin_inff();                                                                              \
        return MAKE(T, inf * (a * c - b * d), inf * (a * d + b * c));                                                \
    }

// Corrects a quotient of which both parts are NaN.
#define QUOTIENT_OF_NAN(T, X)                                                                                        \
    static T _Complex F(proviso_quotient_of_nan, X)(T a, T b, T c, T d) {                                            \
        IN_MODE                                                                                                      \
        const T inf = __builtin_inff(), none = __builtin_nanf("");                                                   \
        if (c == 0 && d == 0 && (!IS_NAN(a) || !IS_NAN(b))) {                                                        \
            T pole = F(__builtin_copysign, X)(inf, c);                                                               \
            return MAKE(T, pole * a, pole * b);                                                                      \
        }                                                                                                            \
        if ((IS_INF(X, a) || IS_INF(X, b)) && IS_FINITE(c) && IS_FINITE(d)) {                                        \
            a = BOXED(X, a), b = BOXED(X, b);                                                                        \
            return MAKE(T, inf * (a * c + b * d), inf * (b * c - a * d));                                            \
        }                                                                                                            \
        if ((IS_INF(X, c) || IS_INF(X, d)) && IS_FINITE(a) && IS_FINITE(b)) {                                        \
            c = BOXED(X, c), d = BOXED(X, d);                                                                        \
            return MAKE(T, 0 * (a * c + b * d), 0 * (b * c - a * d));                                                \
        }                                                                                                            \
        return MAKE(T, none, none);                                                                                  \
    }

// Smith's method, scaled where it would overflow or underflow (Baudin and Smith 2012).
#define QUOTIENT(T, X, name, GREATEST, LEAST, EPSILON)                                                               \
    QUOTIENT_OF_NAN(T, X)                                                                                            \
    T _Complex name(T a, T b, T c, T d) {                                                                            \
        IN_MODE                                                                                                      \
        IN_OWN_PRECISION(T, X)                                                                                       \
        const T big = GREATEST / 2, small = LEAST, scale = 1 / EPSILON, less = big * EPSILON;                        \
        T p = a, q = b, r = c, s = d, x, y;                                                                          \
        _Bool second = ABS(X, c) < ABS(X, d);                                                                        \
        if (ABS(X, second ? s : r) >= big)                                                                           \
            p /= 2, q /= 2, r /= 2, s /= 2;                                                                          \
        T greater = ABS(X, second ? s : r);                                                                          \
        if (greater < EPSILON || (ABS(X, p) < small && ABS(X, q) < less && greater < less) ||                        \
            (ABS(X, q) < small && ABS(X, p) < less && greater < less))                                               \
            p *= scale, q *= scale, r *= scale, s *= scale;                                                          \
        T ratio = second ? r / s : s / r;                                                                            \
        T denominator = second ? r * ratio + s : s * ratio + r;                                                      \
        _Bool normal = ABS(X, ratio) > small;                                                                        \
        if (second) {                                                                                                \
            x = ((normal ? p * ratio : r * (p / s)) + q) / denominator;                                              \
            y = ((normal ? q * ratio : r * (q / s)) - p) / denominator;                                              \
        } else {                                                                                                     \
            x = ((normal ? q * ratio : s * (q / r)) + p) / denominator;                                              \
            y = (q - (normal ? p * ratio : s * (p / r))) / denominator;                                              \
        }                                                                                                            \
        if (IS_NAN(x) && IS_NAN(y))                                                                                  \
            return F(proviso_quotient_of_nan, X)(p, q, r, s);                                                        \
        return MAKE(T, x, y);                                                                                        \
    }

// Computes in double precision, in which nothing overflows.
#define QUOTIENT_IN_DOUBLE(T, X, name)                                                                               \
    QUOTIENT_OF_NAN(T, X)                                                                                            \
    T _Complex name(T a, T b, T c, T d) {                                                                            \
        IN_MODE                                                                                                      \
        IN_OWN_PRECISION(T, X)                                                                                       \
        double p = a, q = b, r = c, s = d, denominator = r * r + s * s;                                              \
        T x = (p * r + q * s) / denominator, y = (q * r - p * s) / denominator;                                      \
        if (IS_NAN(x) && IS_NAN(y))                                                                                  \
            return F(proviso_quotient_of_nan, X)(a, b, c, d);                                                        \
        return MAKE(T, x, y);                                                                                        \
    }

// complex.h. If IEEE 754 does not define the rounding, the result is any number.
#define ANY_COMPLEX(T, X, name, parameters)                                                                          \
    T _Complex F(name, X) parameters {                                                                               \
        __proviso_overapproximated(#name);                                                                           \
        SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(EDOM, ERANGE));                                       \
        return MAKE(T, F(proviso_any, X)(), F(proviso_any, X)());                                                    \
    }
#define COMPLEX(T, X)                                                                                                \
    T F(creal, X)(T _Complex z) { return __real__ z; }                                                               \
    T F(cimag, X)(T _Complex z) { return __imag__ z; }                                                               \
    T _Complex F(conj, X)(T _Complex z) { return MAKE(T, __real__ z, -__imag__ z); }                                 \
    T _Complex F(cproj, X)(T _Complex z) {                                                                           \
        if (!IS_INF(X, __real__ z) && !IS_INF(X, __imag__ z))                                                        \
            return z;                                                                                                \
        return MAKE(T, __builtin_inff(), F(__builtin_copysign, X)(0, __imag__ z));                                   \
    }                                                                                                                \
    T F(cabs, X)(T _Complex z) { return F(proviso_hypot, X)(__real__ z, __imag__ z); }                               \
    T F(carg, X)(T _Complex z) { return F(proviso_atan2, X)(__imag__ z, __real__ z); }                               \
    ANY_COMPLEX(T, X, cpow, (T _Complex z, T _Complex power))                                                        \
    ANY_COMPLEX(T, X, csqrt, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, cexp, (T _Complex z))                                                                          \
    ANY_COMPLEX(T, X, clog, (T _Complex z))                                                                          \
    ANY_COMPLEX(T, X, csin, (T _Complex z))                                                                          \
    ANY_COMPLEX(T, X, ccos, (T _Complex z))                                                                          \
    ANY_COMPLEX(T, X, ctan, (T _Complex z))                                                                          \
    ANY_COMPLEX(T, X, casin, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, cacos, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, catan, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, csinh, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, ccosh, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, ctanh, (T _Complex z))                                                                         \
    ANY_COMPLEX(T, X, casinh, (T _Complex z))                                                                        \
    ANY_COMPLEX(T, X, cacosh, (T _Complex z))                                                                        \
    ANY_COMPLEX(T, X, catanh, (T _Complex z))                                                                        \
    ANY_COMPLEX(T, X, clog10, (T _Complex z))
