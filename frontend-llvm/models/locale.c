// Defines: setlocale localeconv
#pragma once
#include "proviso.h"

// locale.h: there is one locale, "C".

char *setlocale(int category, const char *locale) {
    if (!locale)
        return "C";
    if (*locale == 0 || (locale[0] == 'C' && locale[1] == 0))
        return "C";
    proviso_strlen(locale);
    if (!__proviso_env_bool())
        return NULL;
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
