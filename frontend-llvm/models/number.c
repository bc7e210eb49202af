// Defines:
#pragma once
#include "proviso.h"

// Parses numbers for stdlib.c, scanf.c and wnumber.c. The locale is "C".

// Tests of characters without branches, to limit the number of paths. They are macros, so that conditions on the
// character are visible to the analyses.
#define proviso_is_space(character)                                                                                    \
    ({                                                                                                                 \
        int c_ = (character);                                                                                          \
        (_Bool)((c_ == ' ') | (c_ - '\t' < 5u));                                                                       \
    })

// The value of a digit in bases up to 36, or 36.
#define proviso_digit(character)                                                                                       \
    ({                                                                                                                 \
        int c_ = (character), digit_ = c_ - '0', letter_ = (c_ | 0x20) - 'a';                                          \
        36 - (-(digit_ < 10u) & (36 - digit_)) - (-(letter_ < 26u) & (26 - letter_));                                  \
    })

// The value of a digit in a base, or an invalid value. For a decimal digit it is a difference, as programs usually compute it.
#define proviso_digit_in(character, base) ((base) <= 10 ? (unsigned)(character) - '0' : (unsigned)proviso_digit(character))

struct proviso_integer {
    unsigned long long magnitude;
    _Bool negative, too_big;
    // The position after the number, or the start if there is none; in bytes or wide characters.
    const void *end;
};

static long long proviso_signed(struct proviso_integer n, long long max) {
    unsigned long long bound = (unsigned long long)max + n.negative;
    if (n.too_big || n.magnitude > bound) {
        SET_ERRNO(ERANGE);
        return n.negative ? -max - 1 : max;
    }
    return n.negative ? -n.magnitude : n.magnitude;
}

static unsigned long long proviso_unsigned(struct proviso_integer n, unsigned long long max) {
    if (n.too_big || n.magnitude > max) {
        SET_ERRNO(ERANGE);
        return max;
    }
    return n.negative ? -n.magnitude : n.magnitude;
}

// A decimal or hexadecimal floating-point number as text: mantissa * base^exponent.
struct proviso_real {
    enum { PROVISO_NONE, PROVISO_DECIMAL, PROVISO_HEX, PROVISO_INFINITY, PROVISO_NAN } kind;
    // `inexact` if it has more digits than fit.
    unsigned long long mantissa;
    int exponent;
    _Bool negative, inexact;
    const void *end;
};

// The position in text of bytes.
#define PROVISO_CHARACTER char
#define PROVISO_OF_TEXT(function) function
#include "number.h"
#undef PROVISO_CHARACTER
#undef PROVISO_OF_TEXT

// The value of a number if one operation rounds it: mantissa and power are exact in the type. Otherwise, or if that
// operation would not round to nearest, `*exact` is false.
#define REAL_VALUE(function, type, mantissa_bits, max_power)                                                         \
    static type function(struct proviso_real n, _Bool *exact) {                                                      \
        type value = 0;                                                                                              \
        int power = n.exponent < 0 ? -n.exponent : n.exponent;                                                       \
        *exact = 1;                                                                                                  \
        switch (n.kind) {                                                                                            \
        case PROVISO_NONE:                                                                                           \
            return 0;                                                                                                \
        case PROVISO_INFINITY:                                                                                       \
            value = __builtin_inff();                                                                                \
            break;                                                                                                   \
        case PROVISO_NAN:                                                                                            \
            value = __builtin_nanf("");                                                                              \
            break;                                                                                                   \
        default:                                                                                                     \
            value = n.mantissa;                                                                                      \
            if (n.mantissa != 0) {                                                                                   \
                type base = n.kind == PROVISO_HEX ? 2 : 10, factor = 1;                                              \
                int max = n.kind == PROVISO_HEX ? 120 - mantissa_bits : max_power;                                   \
                *exact = !n.inexact && power <= max && (power == 0 || ROUNDS_TO_NEAREST) &&                          \
                         (mantissa_bits >= 64 || n.mantissa >> mantissa_bits == 0);                                  \
                if (*exact) {                                                                                        \
                    for (int i = 0; i < power; i++)                                                                  \
                        factor *= base;                                                                              \
                    value = n.exponent < 0 ? value / factor : value * factor;                                        \
                }                                                                                                    \
            }                                                                                                        \
        }                                                                                                            \
        return n.negative ? -value : value;                                                                          \
    }

// 5^22 < 2^53, 5^27 < 2^64.
REAL_VALUE(proviso_exact_double, double, 53, 22)
REAL_VALUE(proviso_exact_long_double, long double, 64, 27)

// The least power of the base that exceeds a mantissa, without a branch on it. For a mantissa that is not integral, at least that power.
static int proviso_mantissa_size(unsigned long long mantissa, _Bool inexact, unsigned base) {
    int size = 1 + inexact;
    for (unsigned long long power = base;; power *= base) {
        size += mantissa >= power;
        if (power > 0xffffffffffffffff / base)
            return size;
    }
}

// The result if no single operation computes the value: any number with this sign, except numbers that are certainly too large
// or too small. A nonzero number is between 10^exponent and 10^(exponent + digits), or 2^exponent and 2^(exponent + bits). By
// base, `MIN` and `MAX` are the least and the greatest exponents of normal numbers, and numbers up to `ZERO` are rounded to 0.
#define REAL_ESTIMATE(function, type, any, MIN2, MAX2, ZERO2, MIN10, MAX10, ZERO10)                                  \
    static type function(struct proviso_real n) {                                                                    \
        _Bool hex = n.kind == PROVISO_HEX;                                                                           \
        int low = n.exponent, high = n.exponent + (hex ? 65 : 20), zero = hex ? ZERO2 : ZERO10;                      \
        /* Branches on the size of the mantissa only if it decides. */                                               \
        if (low < zero && high > zero)                                                                               \
            high = low + proviso_mantissa_size(n.mantissa, n.inexact, hex ? 2 : 10);                                          \
        if (ROUNDS_TO_NEAREST && (low > (hex ? MAX2 : MAX10) || high <= zero)) {                                       \
            SET_ERRNO(ERANGE);                                                                                       \
            type limit = low > 0 ? __builtin_inff() : 0;                                                             \
            return n.negative ? -limit : limit;                                                                      \
        }                                                                                                            \
        __proviso_overapproximated("reading a floating-point number of many digits is not modelled exactly");        \
        type value = any();                                                                                          \
        __proviso_assume(n.negative ? value <= 0 : value >= 0);                                                      \
        SET_ERRNO_IF((low < (hex ? MIN2 : MIN10) || high > (hex ? MAX2 : MAX10)) && __proviso_env_bool(), ERANGE);   \
        return value;                                                                                                \
    }

REAL_ESTIMATE(proviso_float_estimate, float, __proviso_env_float, -126, 127, -150, -37, 38, -46)
REAL_ESTIMATE(proviso_double_estimate, double, __proviso_env_double, -1022, 1023, -1075, -307, 308, -324)
REAL_ESTIMATE(proviso_long_double_estimate, long double, __proviso_env_longdouble, -16382, 16383, -16446, -4931, 4932,
              -4951)

static double proviso_double(struct proviso_real n) {
    _Bool exact;
    double value = proviso_exact_double(n, &exact);
    return exact ? value : proviso_double_estimate(n);
}

static long double proviso_long_double(struct proviso_real n) {
    _Bool exact;
    long double value = proviso_exact_long_double(n, &exact);
    return exact ? value : proviso_long_double_estimate(n);
}

static float proviso_float(struct proviso_real n) {
    _Bool exact;
    union {
        double value;
        unsigned long long bits;
    } wide = {proviso_exact_double(n, &exact)};
    // Double rounding equals single rounding unless the first result is half way between two floats.
    double magnitude = __builtin_fabs(wide.value);
    _Bool normal = !(magnitude < 0x1p-126) || magnitude == 0;
    _Bool certain = ROUNDS_TO_NEAREST ? (wide.bits & 0x1fffffff) != 0x10000000 : (float)wide.value == wide.value;
    return exact && normal && certain ? (float)wide.value : proviso_float_estimate(n);
}

// Conversion of text to numbers, for stdlib.c and locale.c.

static struct proviso_integer proviso_strto(const char *s, char **end, int base, _Bool binary) {
    if (base < 0 || base == 1 || base > 36) {
        SET_ERRNO(EINVAL);
        return (struct proviso_integer){0, 0, 0, s};
    }
    struct proviso_integer n = proviso_read_integer(s, SIZE_MAX, base, binary, 0);
    if (end)
        *end = (char *)n.end;
    return n;
}

static struct proviso_real proviso_strtor(const char *s, char **end) {
    struct proviso_real n = proviso_read_real(s);
    if (end)
        *end = (char *)n.end;
    return n;
}
