#pragma once
#include "real.h"

// math.h, where the result is a rounded real number that IEEE 754 does not prescribe. Special cases are exact;
// otherwise the result is any number that keeps the facts given, which hold for every rounding of the C library. In
// another rounding mode than to nearest it may be any number at all.


// The result may be too big or too small, which not every function says in the same way.
#define PROVISO_RANGE_ERROR() SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(EDOM, ERANGE))

#define ONLY_TO_NEAREST(T, X, name)                                                                                  \
    if (!ROUNDS_TO_NEAREST) {                                                                                        \
        __proviso_overapproximated(name);                                                                            \
        PROVISO_RANGE_ERROR();                                                                                       \
        return F(proviso_any, X)();                                                                                  \
    }

// A function of one argument. `special` are statements that return the exact results. The fact, without
// branches, is about the argument `x` and the result `r`, which is a NaN only where the fact allows it.
#define FUNCTION(T, X, name, special, fact)                                                                          \
    static T F(proviso_##name, X)(T x) {                                                                             \
        ONLY_TO_NEAREST(T, X, #name)                                                                                 \
        const T inf = __builtin_inff(), none = __builtin_nanf("");                                                   \
        if (IS_NAN(x))                                                                                               \
            return x;                                                                                                \
        special __proviso_overapproximated(#name);                                                                   \
        T r = F(proviso_any, X)();                                                                                   \
        __proviso_assume(fact);                                                                                      \
        PROVISO_RANGE_ERROR();                                                                                       \
        return r;                                                                                                    \
    }                                                                                                                \
    T F(name, X)(T x) { return F(proviso_##name, X)(x); }

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
    FUNCTION(T, X, sin, AT(0, x) OUTSIDE(x == inf || x == -inf, EDOM), WITHIN(1))                                    \
    FUNCTION(T, X, cos, AT(0, 1) OUTSIDE(x == inf || x == -inf, EDOM), WITHIN(1))                                    \
    FUNCTION(T, X, tan, AT(0, x) OUTSIDE(x == inf || x == -inf, EDOM), !IS_NAN(r))                                   \
    FUNCTION(T, X, asin, AT(0, x) OUTSIDE(x > 1 || x < -1, EDOM), SAME_SIGN & WITHIN(1.58f))                         \
    FUNCTION(T, X, acos, AT(1, 0) OUTSIDE(x > 1 || x < -1, EDOM), (r >= 0) & (r <= 3.15f))                           \
    FUNCTION(T, X, atan, AT(0, x), SAME_SIGN & WITHIN(1.58f))                                                        \
    FUNCTION(T, X, sinh, AT(0, x) AT(inf, x) AT(-inf, x), SAME_SIGN)                                                 \
    FUNCTION(T, X, cosh, AT(0, 1) AT(inf, inf) AT(-inf, inf), r >= 1)                                                \
    FUNCTION(T, X, tanh, AT(0, x) AT(inf, 1) AT(-inf, -1), SAME_SIGN & WITHIN(1))                                    \
    FUNCTION(T, X, asinh, AT(0, x) AT(inf, x) AT(-inf, x), SAME_SIGN & WITHIN(20000))                                \
    FUNCTION(T, X, acosh, AT(1, 0) AT(inf, x) OUTSIDE(x < 1, EDOM), (r >= 0) & (r <= 20000))                         \
    FUNCTION(T, X, atanh, AT(0, x) POLE(1, inf) POLE(-1, -inf) OUTSIDE(x > 1 || x < -1, EDOM),                       \
             SAME_SIGN & WITHIN(20000))                                                                              \
    FUNCTION(T, X, exp, AT(0, 1) AT(inf, inf) AT(-inf, 0), ((x > 0) & (r >= 1)) | ((x < 0) & (r >= 0) & (r <= 1)))   \
    FUNCTION(T, X, exp2, AT(0, 1) AT(inf, inf) AT(-inf, 0), ((x > 0) & (r >= 1)) | ((x < 0) & (r >= 0) & (r <= 1)))  \
    FUNCTION(T, X, exp10, AT(0, 1) AT(inf, inf) AT(-inf, 0), ((x > 0) & (r >= 1)) | ((x < 0) & (r >= 0) & (r <= 1))) \
    FUNCTION(T, X, expm1, AT(0, x) AT(inf, inf) AT(-inf, -1), SAME_SIGN & (r >= -1))                                 \
    FUNCTION(T, X, log, AT(1, 0) AT(inf, inf) POLE(0, -inf) OUTSIDE(x < 0, EDOM),                                    \
             (((x > 1) & (r >= 0)) | ((x < 1) & (r <= 0))) & WITHIN(20000))                                          \
    FUNCTION(T, X, log2, AT(1, 0) AT(inf, inf) POLE(0, -inf) OUTSIDE(x < 0, EDOM),                                   \
             (((x > 1) & (r >= 0)) | ((x < 1) & (r <= 0))) & WITHIN(20000))                                          \
    FUNCTION(T, X, log10, AT(1, 0) AT(inf, inf) POLE(0, -inf) OUTSIDE(x < 0, EDOM),                                  \
             (((x > 1) & (r >= 0)) | ((x < 1) & (r <= 0))) & WITHIN(20000))                                          \
    FUNCTION(T, X, log1p, AT(0, x) AT(inf, inf) POLE(-1, -inf) OUTSIDE(x < -1, EDOM), SAME_SIGN & WITHIN(20000))     \
    FUNCTION(T, X, cbrt, AT(0, x) AT(inf, x) AT(-inf, x), SAME_SIGN & (r != inf) & (r != -inf))                      \
    FUNCTION(T, X, erf, AT(0, x) AT(inf, 1) AT(-inf, -1), SAME_SIGN & WITHIN(1))                                     \
    FUNCTION(T, X, erfc, AT(0, 1) AT(inf, 0) AT(-inf, 2), (r >= 0) & (r <= 2))                                       \
    FUNCTION(T, X, tgamma, AT(inf, inf) OUTSIDE(x == -inf, EDOM), (x <= 0) | (r >= 0))                               \
    FUNCTION(T, X, lgamma, AT(1, 0) AT(2, 0) AT(inf, inf) AT(-inf, inf), !IS_NAN(r))                                 \
    void F(sincos, X)(T x, T * sine, T * cosine) {                                                                   \
        *sine = F(proviso_sin, X)(x);                                                                                \
        *cosine = F(proviso_cos, X)(x);                                                                              \
    }                                                                                                                \
    T F(atan2, X)(T y, T x) {                                                                                        \
        ONLY_TO_NEAREST(T, X, "atan2")                                                                               \
        if (IS_NAN(x) || IS_NAN(y))                                                                                  \
            return x + y;                                                                                            \
        if (y == 0 && !__builtin_signbit(x))                                                                         \
            return y;                                                                                                \
        __proviso_overapproximated("atan2");                                                                         \
        T r = F(proviso_any, X)();                                                                                   \
        _Bool negative = __builtin_signbit(y);                                                                       \
        __proviso_assume((negative & (r <= 0) & (r >= -3.15f)) | (!negative & (r >= 0) & (r <= 3.15f)));             \
        return r;                                                                                                    \
    }                                                                                                                \
    T F(hypot, X)(T x, T y) {                                                                                        \
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
        PROVISO_RANGE_ERROR();                                                                                       \
        return r;                                                                                                    \
    }                                                                                                                \
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
        __proviso_assume((r >= 0) | ((x <= 0) & !IS_NAN(r)));                                                       \
        PROVISO_RANGE_ERROR();                                                                                       \
        return r;                                                                                                    \
    }
