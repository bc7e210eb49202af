// Defines: wcstol wcstoul wcstoll wcstoull wcstoq wcstouq wcstoimax wcstoumax wcstod wcstof wcstold
// Defines: __isoc23_wcstol __isoc23_wcstoul __isoc23_wcstoll __isoc23_wcstoull __isoc23_wcstoimax __isoc23_wcstoumax
#pragma once
#include "number.c"

// Numbers from wide characters, in the locale "C".

#define PROVISO_CHARACTER wchar_t
#define PROVISO_OF_TEXT(function) function##_wide
#include "number.h"
#undef PROVISO_CHARACTER
#undef PROVISO_OF_TEXT

static struct proviso_integer proviso_wcsto(const wchar_t *s, wchar_t **end, int base, _Bool binary) {
    if (base < 0 || base == 1 || base > 36) {
        SET_ERRNO(EINVAL);
        return (struct proviso_integer){0, 0, 0, s};
    }
    struct proviso_integer n = proviso_read_integer_wide(s, SIZE_MAX, base, binary, 0);
    if (end)
        *end = (wchar_t *)n.end;
    return n;
}

#define WCSTO(function, type, convert, max, binary)                                                                  \
    type function(const wchar_t *s, wchar_t **end, int base) {                                                       \
        return convert(proviso_wcsto(s, end, base, binary), max);                                                    \
    }

WCSTO(wcstol, long, proviso_signed, LONG_MAX, 0)
WCSTO(wcstoul, unsigned long, proviso_unsigned, 2ul * LONG_MAX + 1, 0)
WCSTO(wcstoll, long long, proviso_signed, LLONG_MAX, 0)
WCSTO(wcstoull, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1, 0)
WCSTO(wcstoq, long long, proviso_signed, LLONG_MAX, 0)
WCSTO(wcstouq, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1, 0)
WCSTO(wcstoimax, intmax_t, proviso_signed, LLONG_MAX, 0)
WCSTO(wcstoumax, uintmax_t, proviso_unsigned, 2ull * LLONG_MAX + 1, 0)
WCSTO(__isoc23_wcstol, long, proviso_signed, LONG_MAX, 1)
WCSTO(__isoc23_wcstoul, unsigned long, proviso_unsigned, 2ul * LONG_MAX + 1, 1)
WCSTO(__isoc23_wcstoll, long long, proviso_signed, LLONG_MAX, 1)
WCSTO(__isoc23_wcstoull, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1, 1)
WCSTO(__isoc23_wcstoimax, intmax_t, proviso_signed, LLONG_MAX, 1)
WCSTO(__isoc23_wcstoumax, uintmax_t, proviso_unsigned, 2ull * LLONG_MAX + 1, 1)

static struct proviso_real proviso_wcstor(const wchar_t *s, wchar_t **end) {
    struct proviso_real n = proviso_read_real_wide(s);
    if (end)
        *end = (wchar_t *)n.end;
    return n;
}

double wcstod(const wchar_t *s, wchar_t **end) { return proviso_double(proviso_wcstor(s, end)); }

float wcstof(const wchar_t *s, wchar_t **end) { return proviso_float(proviso_wcstor(s, end)); }

long double wcstold(const wchar_t *s, wchar_t **end) { return proviso_long_double(proviso_wcstor(s, end)); }
