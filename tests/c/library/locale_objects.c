// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety --malloc-may-fail => TRUE
// run: --property unreach-call --malloc-may-fail => TRUE
// run: --property valid-memcleanup => TRUE
// run: --property valid-memsafety -DWRONG=1 => FALSE(valid-free)
// run: --property valid-memsafety -DWRONG=2 => FALSE(valid-memtrack)
// run: --property valid-memsafety -DWRONG=3 => FALSE(valid-deref)
// run: --property valid-memsafety -DWRONG=4 => FALSE(valid-deref)
// run: --property valid-memsafety -DWRONG=5 => FALSE(valid-memtrack)
// run: --property valid-memsafety -DWRONG=6 => FALSE(valid-deref)
// run: --property valid-memcleanup -DWRONG=2 => FALSE(valid-memcleanup)
// run: --check address => TRUE
// run: --property unreach-call -DWRONG=7 => FALSE(unreach-call)
// run: --property unreach-call -DWRONG=8 => UNKNOWN
// Locale objects: only freelocale deallocates them, once. newlocale frees or changes its third argument if it succeeds.
#define _GNU_SOURCE
#include "../verify.h"
#include <ctype.h>
#include <errno.h>
#include <locale.h>
#include <stdlib.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    check(uselocale(0) == LC_GLOBAL_LOCALE);
    errno = 0;
    check(!newlocale(1 << 20, "C", 0) && errno == EINVAL);
    check(!newlocale(LC_ALL_MASK, 0, 0));
    locale_t own = newlocale(LC_CTYPE_MASK, "POSIX", 0);
    if (!own) {
        check(errno == ENOMEM);
        return 0;
    }
    check(isalpha_l('a', own) && !isalpha_l('1', own) && own->__ctype_toupper['b'] == 'B');
    check(uselocale(own) == LC_GLOBAL_LOCALE && uselocale(0) == own);
    check(isalpha('a') && !isalpha(0xe4));
    check(uselocale(LC_GLOBAL_LOCALE) == own);
    locale_t copy = duplocale(own); // wrong
    locale_t global = duplocale(LC_GLOBAL_LOCALE);
    check(!copy || copy != own);
    if (global)
        freelocale(global);
    locale_t next = newlocale(LC_TIME_MASK, "", own);
    if (!next)
        next = own; // It did not change.
    if (WRONG == 1)
        free(next); // wrong
    if (WRONG == 2 && copy)
        copy = 0;
    if (WRONG == 3)
        freelocale(LC_GLOBAL_LOCALE); // wrong
    if (WRONG == 4)
        freelocale(0); // wrong
    if (copy)
        freelocale(copy);
    freelocale(next);
    if (WRONG == 5)
        duplocale(LC_GLOBAL_LOCALE); // wrong
    if (WRONG == 6 && next != own)
        freelocale(next); // wrong
    // The GNU C library has one object for the name "C".
    locale_t c = newlocale(LC_ALL_MASK, "C", 0), again = duplocale(c);
    check(c && again);
    check(c->__names[LC_CTYPE][0] == 'C');
    freelocale(again);
    freelocale(c);
    if (WRONG == 7 && !newlocale(LC_ALL_MASK, "de_DE", 0))
        reach_error(); // wrong
    if (WRONG == 8 && newlocale(LC_ALL_MASK, "de_DE", 0) && isalpha(0xe4))
        reach_error();
    return 0;
}
