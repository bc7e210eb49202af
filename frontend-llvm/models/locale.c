// Defines: setlocale localeconv
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
