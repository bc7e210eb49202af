// run: -DPART=1 => TRUE
// run: -DPART=2 => TRUE
// run: -DPART=3 => UNKNOWN
// Names of locales. "C", "POSIX" and the one of the environment are modelled.
#include "../verify.h"
#include <locale.h>
#include <string.h>

int main(int argc, char **argv) {
#if PART == 1
    check(strcmp(setlocale(LC_ALL, "POSIX"), "C") == 0 && strcmp(setlocale(LC_NUMERIC, "C"), "C") == 0);
    check(strcmp(setlocale(LC_ALL, NULL), "C") == 0 && localeconv()->decimal_point[0] == '.');
#elif PART == 2
    char name[] = {'P', 'O', 'S', 'I', 'X', argc > 1 ? 0 : 'E', 0};
    locale_t locale = newlocale(LC_ALL_MASK, argc > 1 ? name : "C", (locale_t)0);
    if (locale)
        freelocale(locale);
#else
    if (setlocale(LC_ALL, "POSIX.UTF-8"))
        check(localeconv()->decimal_point[0] == '.');
#endif
    return 0;
}
