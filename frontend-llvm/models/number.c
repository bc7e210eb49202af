// Defines:
#pragma once
#include "proviso.h"

// Reading numbers, for stdlib.c and stdio.c. The locale is "C".

// What is asked of each character, without branches: paths are many as it is. Not functions, so that what a condition says of the character
// is seen in it.
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

// The value of a digit in a base, or what is no digit in it. That of a decimal one is a difference, as it is in what programs say of it.
#define proviso_digit_in(character, base) ((base) <= 10 ? (unsigned)(character) - '0' : (unsigned)proviso_digit(character))

struct proviso_integer {
    unsigned long long magnitude;
    _Bool negative, too_big;
    // Behind the number, or where reading began if there is none.
    const char *end;
};

// Reads an integer as `strtol` does, from at most `max` bytes. `binary`: the prefix 0b is known, as in C23. `scan`: as
// `scanf` does, which does not go back where no digit follows a prefix.
static struct proviso_integer proviso_read_integer(const char *s, size_t max, int base, _Bool binary, _Bool scan) {
    unsigned long long magnitude = 0;
    _Bool negative = 0, too_big = 0;
    const char *end = s;
    const char *limit = max > UINTPTR_MAX - (uintptr_t)s ? (const char *)UINTPTR_MAX : s + max;
    while (s != limit && proviso_is_space(*s))
        s++;
    if (s != limit && (*s == '-' || *s == '+')) {
        negative = *s == '-';
        s++;
    }
    // No branch on characters where the base has no prefix.
    if (((base == 0) | (base == 16) | ((base == 2) & binary)) && s != limit && *s == '0') {
        int prefix = s + 1 == limit || (!scan && s + 2 == limit) ? 0 : s[1];
        int prefix_base = prefix == 'x' || prefix == 'X' ? 16 : binary && (prefix == 'b' || prefix == 'B') ? 2 : 8;
        _Bool in_prefix = prefix_base != 8 && (base == 0 || base == prefix_base);
        if (in_prefix && (scan || proviso_digit(s[2]) < prefix_base)) {
            base = prefix_base;
            s += 2;
            end = s;
        } else if (base == 0) {
            base = 8;
        }
    }
    if (base == 0)
        base = 10;
    unsigned digits = 0;
    while (s != limit) {
        unsigned digit = proviso_digit_in(*s, base);
        if (digit >= (unsigned)base)
            break;
        // So many fit, which nobody need find out.
        if (digits < (base <= 10 ? 19 : 12)) {
            magnitude = magnitude * base + digit;
            digits++;
        } else {
            unsigned long long most = ~0ull / base;
            too_big |= (magnitude > most) | ((magnitude == most) & (digit > ~0ull % base));
            magnitude = magnitude * base + digit;
        }
        s++;
        end = s;
    }
    return (struct proviso_integer){magnitude, negative, too_big, end};
}

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
    const char *end;
};

// Whether `s` starts with `word` (in lower case), whatever its case.
static _Bool proviso_starts_with(const char *s, const char *word) {
    for (; *word; s++, word++) {
        if ((*s | 0x20) != *word)
            return 0;
    }
    return 1;
}

// Reads a number as `strtod` does.
static struct proviso_real proviso_read_real(const char *s) {
    struct proviso_real result = {PROVISO_NONE, 0, 0, 0, 0, s};
    while (proviso_is_space(*s))
        s++;
    if (*s == '-' || *s == '+') {
        result.negative = *s == '-';
        s++;
    }
    if (proviso_starts_with(s, "inf")) {
        result.kind = PROVISO_INFINITY;
        result.end = s + (proviso_starts_with(s, "infinity") ? 8 : 3);
        return result;
    }
    if (proviso_starts_with(s, "nan")) {
        result.kind = PROVISO_NAN;
        s += 3;
        result.end = s;
        if (*s == '(') {
            do
                s++;
            while (proviso_digit(*s) < 36 || *s == '_');
            if (*s == ')')
                result.end = s + 1;
        }
        return result;
    }
    int base = 10;
    if (*s == '0' && (s[1] == 'x' || s[1] == 'X') &&
        (proviso_digit(s[2]) < 16 || (s[2] == '.' && proviso_digit(s[3]) < 16))) {
        base = 16;
        s += 2;
    }
    _Bool point = 0, digits = 0;
    int step = base == 16 ? 4 : 1;
    for (;; s++) {
        if (*s == '.' && !point) {
            point = 1;
            continue;
        }
        unsigned digit = proviso_digit_in(*s, base);
        if (digit >= (unsigned)base)
            break;
        digits = 1;
        if (result.mantissa <= (0xffffffffffffffff - 15) / 16) {
            result.mantissa = result.mantissa * base + digit;
            result.exponent -= point ? step : 0;
        } else {
            result.inexact |= digit != 0;
            result.exponent += point ? 0 : step;
        }
    }
    if (!digits)
        return result;
    result.kind = base == 16 ? PROVISO_HEX : PROVISO_DECIMAL;
    result.end = s;
    if ((*s | 0x20) == (base == 16 ? 'p' : 'e')) {
        s++;
        _Bool negative = *s == '-';
        if (*s == '-' || *s == '+')
            s++;
        if (proviso_digit_in(*s, 10) < 10) {
            int exponent = 0;
            for (; proviso_digit_in(*s, 10) < 10; s++) {
                if (exponent < 100000)
                    exponent = exponent * 10 + (*s - '0');
            }
            result.exponent += negative ? -exponent : exponent;
            result.end = s;
        }
    }
    return result;
}

// The value of a number where one operation rounds it: mantissa and power are exact in the type. Otherwise, and
// where that operation would not round to nearest, `*exact` is false.
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

// The least power of the base that is greater than a mantissa, without a branch on it; of one that is not whole, at least.
static int proviso_mantissa_size(unsigned long long mantissa, _Bool inexact, unsigned base) {
    int size = 1 + inexact;
    for (unsigned long long power = base;; power *= base) {
        size += mantissa >= power;
        if (power > 0xffffffffffffffff / base)
            return size;
    }
}

// Where no single operation has the value: any number of this sign, but for what is certainly too large or too small.
// A number other than 0 is between 10^exponent and 10^(exponent + digits), or 2^exponent and 2^(exponent + bits). `MIN` and
// `MAX` are the least and the greatest exponents of normal numbers, and numbers up to `ZERO` are rounded to 0, by base.
#define REAL_ESTIMATE(function, type, any, MIN2, MAX2, ZERO2, MIN10, MAX10, ZERO10)                                  \
    static type function(struct proviso_real n) {                                                                    \
        _Bool hex = n.kind == PROVISO_HEX;                                                                           \
        int low = n.exponent, high = n.exponent + (hex ? 65 : 20), zero = hex ? ZERO2 : ZERO10;                      \
        /* How large the mantissa is is asked where it decides. */                                                   \
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
    // Rounding twice is rounding once unless the first ends half way between two floats.
    double magnitude = __builtin_fabs(wide.value);
    _Bool normal = !(magnitude < 0x1p-126) || magnitude == 0;
    _Bool certain = ROUNDS_TO_NEAREST ? (wide.bits & 0x1fffffff) != 0x10000000 : (float)wide.value == wide.value;
    return exact && normal && certain ? (float)wide.value : proviso_float_estimate(n);
}
