// Defines: setlocale localeconv nl_langinfo newlocale duplocale uselocale freelocale strtol_l strtoul_l strtoll_l strtoull_l
// Defines: strtod_l strtof_l strtold_l __strtol_l __strtoul_l __strtoll_l __strtoull_l __strtod_l __strtof_l __strtold_l
#pragma once
#include "ctype.c"
#include "number.c"
#include "proviso.h"

// locale.h: there is one locale, "C".

// Without a loop, the analyses decide this for a constant.
static _Bool proviso_is_c(const char *locale) { return locale[0] == 'C' && !locale[1]; }

static _Bool proviso_is_posix(const char *locale) {
    return locale[0] == 'P' && locale[1] == 'O' && locale[2] == 'S' && locale[3] == 'I' && locale[4] == 'X' && !locale[5];
}

char *setlocale(int category, const char *locale) {
    if (category < 0 || category > 12) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (!locale || *locale == 0 || proviso_is_c(locale) || proviso_is_posix(locale))
        return "C";
    proviso_strlen(locale);
    if (!__proviso_env_bool()) {
        SET_ERRNO_IF(__proviso_env_bool(), proviso_env_error());
        return NULL;
    }
    __proviso_unmodelled("locales are not modelled");
    return "C";
}

// Ten strings, fourteen bytes.
struct proviso_lconv {
    char *text[10];
    char number[14];
};

struct proviso_lconv *localeconv(void) {
    static struct proviso_lconv convention = {
        {".", "", "", "", "", "", "", "", "", ""},
        {127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127, 127},
    };
    return &convention;
}

// langinfo.h: the texts of the locale "C". An item has its category in the upper half of its number.
char *nl_langinfo(int item) {
    static const char times[43][21] = {
        "Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday",
        "Friday", "Saturday", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
        "January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
        "December", "AM", "PM", "%a %b %e %H:%M:%S %Y", "%m/%d/%y", "%H:%M:%S",
    };
    enum { CODESET = 14, RADIXCHAR = 0x10000, THOUSEP, ABDAY_1 = 0x20000, T_FMT_AMPM = 0x2002b, CRNCYSTR = 0x4000f };
    enum { ERA = 0x2002c, ERA_D_FMT = 0x2002e, ERA_T_FMT = 0x20031, YESEXPR = 0x50000, NOEXPR, YESSTR, NOSTR };
    switch (item) {
    case CODESET:
        return "ANSI_X3.4-1968";
    case RADIXCHAR:
        return ".";
    case T_FMT_AMPM:
        return "%I:%M:%S %p";
    case CRNCYSTR:
        return "-";
    case YESEXPR:
        return "^[yY]";
    case NOEXPR:
        return "^[nN]";
    case THOUSEP:
    case ERA:
    case YESSTR:
    case NOSTR:
        return "";
    }
    if (item >= ABDAY_1 && item < ABDAY_1 + 43)
        return (char *)times[item - ABDAY_1];
    if (item >= ERA_D_FMT && item <= ERA_T_FMT)
        return "";
    __proviso_unmodelled("this item of nl_langinfo is not modelled");
    return "";
}

// Locale objects. The header's macros, and gnulib, read the tables and the names. All objects are of the locale "C".
struct proviso_locale {
    const char *data[13];
    const unsigned short *classes;
    const int *lowered, *uppered;
    const char *names[13];
};

#define THIRTEEN(e) e, e, e, e, e, e, e, e, e, e, e, e, e
static const struct proviso_locale proviso_locale_c = {
    {THIRTEEN("")}, proviso_bits + 128, proviso_lowered + 128, proviso_uppered + 128, {THIRTEEN("C")}};

#define LOCALE_C ((struct proviso_locale *)&proviso_locale_c)
#define GLOBAL_LOCALE ((struct proviso_locale *)-1)
// The read is of a whole field: a read of a part of an address exposes the address.
#define IS_VALID(locale) ((void)*(const char *const volatile *)(locale))

// The GNU C library has one object for the name "C", which is never freed. POSIX requires a call of freelocale for each
// call that returned it. This is the number of missing calls.
#ifdef PROVISO_ARGUMENTS
static size_t proviso_locales_c;
#define COUNT_C(change) (proviso_locales_c += (change))
#else
#define COUNT_C(change) ((void)0)
#endif
#define REQUIRE_NOT_FREED(locale)                                                                                    \
    REQUIRE((locale) != LOCALE_C || proviso_locales_c > 0, "a locale object is used that was freed")

// The locale object of the thread. Null is the global locale.
#ifdef PROVISO_THREADS
static _Thread_local struct proviso_locale *proviso_used_locale;
#else
static struct proviso_locale *proviso_used_locale;
#endif

static struct proviso_locale *proviso_make_locale(void) {
    struct proviso_locale *made = __proviso_alloc_locale(sizeof *made);
    if (made)
        *made = proviso_locale_c;
    return made;
}

static void proviso_end_locale(struct proviso_locale *locale) {
    REQUIRE_NOT_FREED(locale);
    if (locale == LOCALE_C) {
        COUNT_C(-1);
        return;
    }
    if (locale == proviso_used_locale)
        __proviso_unmodelled("a locale object is freed that is still used");
    __proviso_free_locale(locale);
}

// The result replaces `base`, which is an object of its own or none. If the call fails, `base` does not change.
struct proviso_locale *newlocale(int categories, const char *locale, struct proviso_locale *base) {
    enum { LC_ALL = 6, ALL = 0x1fff & ~(1 << LC_ALL) };
    if (categories == 1 << LC_ALL)
        categories = ALL;
    if (categories & ~ALL || !locale) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (base) {
        IS_VALID(base);
        REQUIRE_NOT_FREED(base);
    }
    _Bool is_c_only = !base || base == LOCALE_C || categories == ALL;
    struct proviso_locale *made = LOCALE_C;
    if (is_c_only && (categories == 0 || proviso_is_c(locale))) {
        COUNT_C(1);
    } else {
        if (categories == 0) {
            __proviso_unmodelled("newlocale without categories is not modelled");
        } else if (*locale && !proviso_is_c(locale) && !proviso_is_posix(locale)) {
            proviso_strlen(locale);
            if (!__proviso_env_bool()) {
                SET_ERRNO_IF(__proviso_env_bool(), proviso_env_error());
                return NULL;
            }
            __proviso_unmodelled("locales are not modelled");
        }
        made = proviso_make_locale();
    }
    if (made && base)
        proviso_end_locale(base);
    return made;
}

struct proviso_locale *duplocale(struct proviso_locale *locale) {
    if (locale != GLOBAL_LOCALE) {
        IS_VALID(locale);
        REQUIRE_NOT_FREED(locale);
    }
    if (locale != LOCALE_C)
        return proviso_make_locale();
    COUNT_C(1);
    return locale;
}

struct proviso_locale *uselocale(struct proviso_locale *locale) {
    struct proviso_locale *former = proviso_used_locale ? proviso_used_locale : GLOBAL_LOCALE;
    if (locale == GLOBAL_LOCALE) {
        proviso_used_locale = NULL;
    } else if (locale) {
        IS_VALID(locale);
        REQUIRE_NOT_FREED(locale);
        proviso_used_locale = locale;
    }
    return former;
}

void freelocale(struct proviso_locale *locale) {
    IS_VALID(locale);
    proviso_end_locale(locale);
}

// Conversion of text to numbers. All locales are "C".
#define USE_LOCALE(locale)                                                                                           \
    do {                                                                                                             \
        IS_VALID(locale);                                                                                            \
        REQUIRE_NOT_FREED(locale);                                                                                   \
    } while (0)
#define STRTO_L(function, type, convert, max)                                                                        \
    type function(const char *s, char **end, int base, struct proviso_locale *locale) {                              \
        USE_LOCALE(locale);                                                                                          \
        return convert(proviso_strto(s, end, base, 0), max);                                                         \
    }
STRTO_L(strtol_l, long, proviso_signed, LONG_MAX)
STRTO_L(strtoul_l, unsigned long, proviso_unsigned, 2ul * LONG_MAX + 1)
STRTO_L(strtoll_l, long long, proviso_signed, LLONG_MAX)
STRTO_L(strtoull_l, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1)
STRTO_L(__strtol_l, long, proviso_signed, LONG_MAX)
STRTO_L(__strtoul_l, unsigned long, proviso_unsigned, 2ul * LONG_MAX + 1)
STRTO_L(__strtoll_l, long long, proviso_signed, LLONG_MAX)
STRTO_L(__strtoull_l, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1)

#define STRTOR_L(function, type, convert)                                                                            \
    type function(const char *s, char **end, struct proviso_locale *locale) {                                        \
        USE_LOCALE(locale);                                                                                          \
        return convert(proviso_strtor(s, end));                                                                      \
    }
STRTOR_L(strtod_l, double, proviso_double)
STRTOR_L(strtof_l, float, proviso_float)
STRTOR_L(strtold_l, long double, proviso_long_double)
STRTOR_L(__strtod_l, double, proviso_double)
STRTOR_L(__strtof_l, float, proviso_float)
STRTOR_L(__strtold_l, long double, proviso_long_double)
