// locale.h.
#include "harness.h"
#include <langinfo.h>
#include <locale.h>

DRIVER(setlocale) {
    asks_environment();
    const char *locale = ONE_OF("C", "POSIX", "", "de_DE", "nowhere", "C.UTF-8", "LC_ALL=C", "C/C");
    int category = random_below(6) ? (int)random_below(14) - 1 : (int)random_bits();
    // The environment of the tests may set another locale.
    NATIVELY {
        for (int i = 0; i < 13; i++) {
            static const char *const names[] = {"LANG", "LC_ALL", "LC_CTYPE", "LC_NUMERIC", "LC_TIME", "LC_COLLATE",
                                                "LC_MONETARY", "LC_MESSAGES", "LC_PAPER", "LC_NAME", "LC_ADDRESS",
                                                "LC_TELEPHONE", "LC_MEASUREMENT"};
            unsetenv(names[i]);
        }
        setlocale(LC_ALL, "C");
    }
    say("of %d, %s", category, locale);
    see_text(LIB(setlocale)(category, random_below(4) ? text_in_room(locale) : NULL));
    NATIVELY setlocale(LC_ALL, "C");
}
DRIVER(localeconv) {
    struct lconv *c = LIB(localeconv)();
    char *const *texts = (char *const *)c;
    for (unsigned i = 0; i < offsetof(struct lconv, int_frac_digits) / sizeof *texts; i++)
        see_text(texts[i]);
    for (const char *n = &c->int_frac_digits; n <= &c->int_n_sign_posn; n++)
        see(*n);
}
DRIVER(nl_langinfo) {
    static const nl_item others[] = {CODESET, RADIXCHAR, THOUSEP, YESEXPR, NOEXPR, 0x50002, 0x50003, CRNCYSTR};
    NATIVELY setlocale(LC_ALL, "C");
    // The times, but the number 0x2002d.
    int n = random_below(49);
    nl_item item = random_below(2) ? others[random_below(8)] : (nl_item)(ABDAY_1 + (n < 45 ? n : n + 1));
    see_text(LIB(nl_langinfo)(item));
}
