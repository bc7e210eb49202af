#pragma once
#include "real.h"

// math.h, as far as IEEE 754 does not define the rounding of the result. Special cases are exact. Otherwise the result
// is any number with the given properties, which hold for every rounding of the C library. If the rounding mode is not
// to nearest, the result may be any number.

// The sign of the gamma function at the last argument of `lgamma`.
int signgam;

// In another rounding mode, special cases may also differ.
#define ONLY_TO_NEAREST(T, X, name)                                                                                  \
    if (!ROUNDS_TO_NEAREST) {                                                                                        \
        __proviso_overapproximated(name);                                                                            \
        SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(EDOM, ERANGE));                                       \
        return F(proviso_any, X)();                                                                                  \
    }

// A function of one argument. `special` are statements that return exact results. The property has no branches. It
// relates the argument `x` and the result `r`, which is a NaN only if the property permits it. `range` defines
// `errno`.
#define FUNCTION_OF(T, X, function, text, special, fact, range)                                                      \
    static T F(function, X)(T x) {                                                                                   \
        ONLY_TO_NEAREST(T, X, text)                                                                                  \
        const T inf = __builtin_inff(), none = __builtin_nanf("");                                                   \
        if (IS_NAN(x))                                                                                               \
            return x;                                                                                                \
        special __proviso_overapproximated(text);                                                                    \
        T r = F(proviso_any, X)();                                                                                   \
        __proviso_assume(fact);                                                                                      \
        range(T) return r;                                                                                           \
    }
#define FUNCTION(T, X, name, special, fact, range)                                                                   \
    FUNCTION_OF(T, X, proviso_##name, #name, special, fact, range)                                                   \
    T F(name, X)(T x) { return F(proviso_##name, X)(x); }

// The result may be too large, and is then infinite. Or it may be too small, which not all functions report alike.
#define NO_ERROR(T)
#define OVERFLOW(T) SET_ERRNO_IF((r == __builtin_inff()) | (r == -__builtin_inff()), ERANGE);
#define UNDERFLOW(T) SET_ERRNO_IF((r < LEAST_NORMAL(T)) & (r > -LEAST_NORMAL(T)) && __proviso_env_bool(), ERANGE);
#define BOTH(T) OVERFLOW(T) UNDERFLOW(T)
#define LEAST_NORMAL(T) ((T)(sizeof(T) == 4 ? 0x1p-126L : sizeof(T) == 8 ? 0x1p-1022L : 0x1p-16382L))

#define AT(value, result)                                                                                            \
    if (x == (value))                                                                                                \
        return (result);
#define OUTSIDE(condition, error)                                                                                    \
    if (condition) {                                                                                                 \
        SET_ERRNO(error);                                                                                            \
        return none;                                                                                                 \
    }
#define POLE(value, result)                                                                                          \
    if (x == (value)) {                                                                                              \
        SET_ERRNO(ERANGE);                                                                                           \
        return (result);                                                                                             \
    }
#define SAME_SIGN (((x > 0) & (r >= 0)) | ((x < 0) & (r <= 0)))
#define WITHIN(bound) ((r <= (bound)) & (r >= -(bound)))

#define FUNCTIONS(T, X)                                                                                              \
    FUNCTION(T, X, sin, AT(0, x) OUTSIDE(x == inf || x == -inf, EDOM), WITHIN(1), NO_ERROR)                          \
    FUNCTION(T, X, cos, AT(0, 1) OUTSIDE(x == inf || x == -inf, EDOM), WITHIN(1), NO_ERROR)                          \
    FUNCTION(T, X, tan, AT(0, x) OUTSIDE(x == inf || x == -inf, EDOM), (r < inf) & (r > -inf), NO_ERROR)             \
    FUNCTION(T, X, asin, AT(0, x) OUTSIDE(x > 1 || x < -1, EDOM), SAME_SIGN & WITHIN(1.58f), NO_ERROR)               \
    FUNCTION(T, X, acos, AT(1, 0) OUTSIDE(x > 1 || x < -1, EDOM), (r >= 0) & (r <= 3.15f), NO_ERROR)                 \
    FUNCTION(T, X, atan, AT(0, x), SAME_SIGN & WITHIN(1.58f), NO_ERROR)                                              \
    FUNCTION(T, X, sinh, AT(0, x) AT(inf, x) AT(-inf, x), SAME_SIGN, OVERFLOW)                                       \
    FUNCTION(T, X, cosh, AT(0, 1) AT(inf, inf) AT(-inf, inf), r >= 1, OVERFLOW)                                      \
    FUNCTION(T, X, tanh, AT(0, x) AT(inf, 1) AT(-inf, -1), SAME_SIGN & WITHIN(1), NO_ERROR)                          \
    FUNCTION(T, X, asinh, AT(0, x) AT(inf, x) AT(-inf, x), SAME_SIGN & WITHIN(20000), NO_ERROR)                      \
    FUNCTION(T, X, acosh, AT(1, 0) AT(inf, x) OUTSIDE(x < 1, EDOM), (r >= 0) & (r <= 20000), NO_ERROR)               \
    FUNCTION(T, X, atanh, AT(0, x) POLE(1, inf) POLE(-1, -inf) OUTSIDE(x > 1 || x < -1, EDOM),                       \
             SAME_SIGN & WITHIN(20000), NO_ERROR)                                                                    \
    FUNCTION(T, X, exp, AT(0, 1) AT(inf, inf) AT(-inf, 0),                                                           \
             ((x > 0) & (r >= 1)) | ((x < 0) & (r >= 0) & (r <= 1)), BOTH)                                           \
    FUNCTION(T, X, exp2, AT(0, 1) AT(inf, inf) AT(-inf, 0),                                                          \
             ((x > 0) & (r >= 1)) | ((x < 0) & (r >= 0) & (r <= 1)), BOTH)                                           \
    FUNCTION(T, X, exp10, AT(0, 1) AT(inf, inf) AT(-inf, 0),                                                         \
             ((x > 0) & (r >= 1)) | ((x < 0) & (r >= 0) & (r <= 1)), BOTH)                                           \
    FUNCTION(T, X, expm1, AT(0, x) AT(inf, inf) AT(-inf, -1), SAME_SIGN & (r >= -1), OVERFLOW)                       \
    FUNCTION(T, X, log, AT(1, 0) AT(inf, inf) POLE(0, -inf) OUTSIDE(x < 0, EDOM),                                    \
             (((x > 1) & (r >= 0)) | ((x < 1) & (r <= 0))) & WITHIN(20000), NO_ERROR)                                \
    FUNCTION(T, X, log2, AT(1, 0) AT(inf, inf) POLE(0, -inf) OUTSIDE(x < 0, EDOM),                                   \
             (((x > 1) & (r >= 0)) | ((x < 1) & (r <= 0))) & WITHIN(20000), NO_ERROR)                                \
    FUNCTION(T, X, log10, AT(1, 0) AT(inf, inf) POLE(0, -inf) OUTSIDE(x < 0, EDOM),                                  \
             (((x > 1) & (r >= 0)) | ((x < 1) & (r <= 0))) & WITHIN(20000), NO_ERROR)                                \
    FUNCTION(T, X, log1p, AT(0, x) AT(inf, inf) POLE(-1, -inf) OUTSIDE(x < -1, EDOM),                                \
             SAME_SIGN & WITHIN(20000), NO_ERROR)                                                                    \
    FUNCTION(T, X, cbrt, AT(0, x) AT(inf, x) AT(-inf, x), SAME_SIGN & (r != inf) & (r != -inf), NO_ERROR)            \
    FUNCTION(T, X, erf, AT(0, x) AT(inf, 1) AT(-inf, -1), SAME_SIGN & WITHIN(1), NO_ERROR)                           \
    FUNCTION(T, X, erfc, AT(0, 1) AT(inf, 0) AT(-inf, 2), (r >= 0) & (r <= 2), UNDERFLOW)                            \
    FUNCTION(T, X, tgamma, AT(inf, inf) POLE(0, F(__builtin_copysign, X)(inf, x)) OUTSIDE(x == -inf, EDOM)           \
             OUTSIDE(x < 0 && F(__builtin_trunc, X)(x) == x, EDOM), (x <= 0) | (r >= 0), BOTH)                       \
    FUNCTION_OF(T, X, proviso_lgamma, "lgamma", AT(1, 0) AT(2, 0) AT(inf, inf) AT(-inf, inf) POLE(0, inf)            \
             if (x < 0 && F(__builtin_trunc, X)(x) == x) { SET_ERRNO(ERANGE); return inf; }, !IS_NAN(r), OVERFLOW)   \
    /* The sign of the gamma function, which changes at negative integers. */                                        \
    static int F(proviso_sign_of_gamma, X)(T x) {                                                                    \
        T below = F(__builtin_floor, X)(x), half = below / 2;                                                        \
        if (x == 0)                                                                                                  \
            return __builtin_signbit(x) ? -1 : 1;                                                                    \
        return x < 0 && below != x && F(__builtin_floor, X)(half) != half ? -1 : 1;                                  \
    }                                                                                                                \
    T F(lgamma, X)(T x) {                                                                                            \
        signgam = F(proviso_sign_of_gamma, X)(x);                                                                    \
        return F(proviso_lgamma, X)(x);                                                                              \
    }                                                                                                                \
    T lgamma##X##_r(T x, int *sign) {                                                                                \
        *sign = F(proviso_sign_of_gamma, X)(x);                                                                      \
        return F(proviso_lgamma, X)(x);                                                                              \
    }                                                                                                                \
    void F(sincos, X)(T x, T * sine, T * cosine) {                                                                   \
        *sine = F(proviso_sin, X)(x);                                                                                \
        *cosine = F(proviso_cos, X)(x);                                                                              \
    }                                                                                                                \
    static T F(proviso_atan2, X)(T y, T x) {                                                                         \
        ONLY_TO_NEAREST(T, X, "atan2")                                                                               \
        if (IS_NAN(x) || IS_NAN(y))                                                                                  \
            return x + y;                                                                                            \
        if (y == 0 && !__builtin_signbit(x))                                                                         \
            return y;                                                                                                \
        __proviso_overapproximated("atan2");                                                                         \
        T r = F(proviso_any, X)();                                                                                   \
        _Bool negative = __builtin_signbit(y);                                                                       \
        __proviso_assume((negative & (r <= 0) & (r >= -3.15f)) | (!negative & (r >= 0) & (r <= 3.15f)));             \
        UNDERFLOW(T) return r;                                                                                       \
    }                                                                                                                \
    static T F(proviso_hypot, X)(T x, T y) {                                                                         \
        ONLY_TO_NEAREST(T, X, "hypot")                                                                               \
        const T inf = __builtin_inff();                                                                              \
        x = F(__builtin_fabs, X)(x);                                                                                 \
        y = F(__builtin_fabs, X)(y);                                                                                 \
        if (x == inf || y == inf)                                                                                    \
            return inf;                                                                                              \
        if (IS_NAN(x) || IS_NAN(y))                                                                                  \
            return x + y;                                                                                            \
        if (x == 0 || y == 0)                                                                                        \
            return x + y;                                                                                            \
        __proviso_overapproximated("hypot");                                                                         \
        T r = F(proviso_any, X)();                                                                                   \
        __proviso_assume(r >= 0);                                                                                    \
        OVERFLOW(T) return r;                                                                                        \
    }                                                                                                                \
    T F(atan2, X)(T y, T x) { return F(proviso_atan2, X)(y, x); }                                                    \
    T F(hypot, X)(T x, T y) { return F(proviso_hypot, X)(x, y); }                                                    \
    T F(pow, X)(T x, T y) {                                                                                          \
        ONLY_TO_NEAREST(T, X, "pow")                                                                                 \
        const T inf = __builtin_inff();                                                                              \
        if (y == 0 || x == 1)                                                                                        \
            return 1;                                                                                                \
        if (IS_NAN(x) || IS_NAN(y))                                                                                  \
            return x + y;                                                                                            \
        if (y == 1)                                                                                                  \
            return x;                                                                                                \
        __proviso_overapproximated("pow");                                                                           \
        T r = F(proviso_any, X)();                                                                                   \
        _Bool whole = F(__builtin_trunc, X)(y) == y;                                                                 \
        if (x < 0 && x != -inf && !whole) {                                                                          \
            SET_ERRNO(EDOM);                                                                                         \
            return __builtin_nanf("");                                                                               \
        }                                                                                                            \
        __proviso_assume((r >= 0) | ((x <= 0) & !IS_NAN(r)));                                                        \
        if (x - x == 0 && y - y == 0) {                                                                              \
            BOTH(T)                                                                                                  \
        }                                                                                                            \
        return r;                                                                                                    \
    }
