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

DRIVER(newlocale) {
    asks_environment();
    // The environment of the tests may set another locale.
    NATIVELY unsetenv("LC_ALL");
    const char *first = ONE_OF("C", "POSIX"), *second = ONE_OF("C", "POSIX", "nowhere", "LC_ALL=C", "C/C");
    int categories = ONE_OF(LC_ALL_MASK, LC_CTYPE_MASK, LC_TIME_MASK | LC_NUMERIC_MASK, 1 << LC_ALL, 1 << 13, -1);
    say("of %d, %s, then %s", categories, first, second);
    locale_t base = LIB(newlocale)(LC_ALL_MASK, text_in_room(first), NULL);
    see(base != NULL);
    locale_t made = LIB(newlocale)(categories, random_below(4) ? text_in_room(second) : NULL, random_below(2) ? base : NULL);
    see(made != NULL);
    if (made) {
        see(made->__ctype_b['a']);
        see(made->__ctype_b[-1]);
        see(made->__ctype_toupper['b']);
        see(made->__ctype_tolower[-100]);
        see_text(made->__names[LC_TIME]);
        see(LIB(uselocale)(made) == LC_GLOBAL_LOCALE);
        see(LIB(uselocale)(NULL) == made);
        see(LIB(uselocale)(LC_GLOBAL_LOCALE) == made);
        LIB(freelocale)(made);
    }
}
DRIVER(duplocale) {
    locale_t c = LIB(newlocale)(LC_ALL_MASK, "C", NULL);
    see(LIB(newlocale)(LC_CTYPE_MASK, "C", c) == c);
    see(LIB(duplocale)(c) == c);
    locale_t global = LIB(duplocale)(LC_GLOBAL_LOCALE);
    see(global != NULL && global != c);
    locale_t own = LIB(newlocale)(LC_ALL_MASK, "POSIX", NULL);
    locale_t copy = LIB(duplocale)(own);
    see(copy != own && own != c);
    see(LIB(uselocale)(NULL) == LC_GLOBAL_LOCALE);
    LIB(freelocale)(global);
    LIB(freelocale)(copy);
    LIB(freelocale)(own);
    LIB(freelocale)(c);
}
DRIVER(strtod_l) {
    locale_t c = LIB(newlocale)(LC_ALL_MASK, "C", NULL);
    char *end, *text = random_string(8, "  +-0123456789.xXeE");
    int base = random_below(40) - 1;
    say("base %d", base);
    see(LIB(strtol_l)(text, &end, base, c));
    if (base == 0 || (base > 1 && base <= 36))
        see_pointer(end);
    see(LIB(strtoull_l)(text, NULL, 10, c));
    see(LIB(strtoul_l)(text, NULL, 16, c));
    see(LIB(strtoll_l)(text, NULL, 8, c));
    see_real(LIB(strtod_l)(ONE_OF("1.5x", " -2e3", "0x1p3", "inf", "."), NULL, c));
    see_real(LIB(strtold_l)("0.25", NULL, c));
    see_real(LIB(strtof_l)("-7e", NULL, c));
}
