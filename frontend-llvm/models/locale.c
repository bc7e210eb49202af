// Defines: setlocale localeconv nl_langinfo
#pragma once
#include "proviso.h"

// locale.h: there is one locale, "C".

static _Bool proviso_is_locale(const char *a, const char *b) {
    for (; *a == *b; a++, b++)
        if (*a == 0)
            return 1;
    return 0;
}

char *setlocale(int category, const char *locale) {
    if (category < 0 || category > 12) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (!locale || *locale == 0 || proviso_is_locale(locale, "C") || proviso_is_locale(locale, "POSIX"))
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
