// err.h, error.h, syslog.h, libintl.h: messages.
#include "harness.h"
#include <err.h>
#include <error.h>
#include <libintl.h>
#include <syslog.h>

DRIVER(warnings) {
    int n = random_below(9), count = -1;
    LIB(warn)(random_below(4) ? "%d %s%n" : NULL, n, "text", &count);
    see(count);
    LIB(warnx)("%s", "text");
    unsigned before = LIB(error_message_count);
    LIB(error)(0, random_below(4), "%d", n);
    LIB(error_at_line)(0, 0, random_below(2) ? "file" : NULL, 7, "%d", n);
    see(LIB(error_message_count) - before);
    LIB_ERRNO = 0;
}
DRIVER(setlogmask) {
    LIB(setlogmask)(0xff);
    for (int i = 0; i < 3; i++)
        see(LIB(setlogmask)(random_below(300)));
}
DRIVER(gettext) {
    char *text = random_string(9, "ab"), *other = random_string(9, "xy");
    see_pointer(LIB(gettext)(text));
    see_pointer(LIB(dgettext)("domain", text));
    see_pointer(LIB(ngettext)(text, other, random_below(4)));
    see_pointer(LIB(dngettext)("domain", text, other, random_below(4)));
    see_text(LIB(bindtextdomain)(ONE_OF("domain", ""), "/folder"));
    see_text(LIB(bind_textdomain_codeset)(ONE_OF("domain", ""), "UTF-8"));
    LIB(textdomain)("");
    see_text(LIB(textdomain)(ONE_OF(NULL, "domain", "")));
    see_text(LIB(textdomain)(NULL));
}
