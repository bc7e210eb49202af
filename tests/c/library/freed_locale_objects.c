// run: --check address => TRUE
// run: --property valid-memsafety -DWRONG=1 => FALSE(valid-deref)
// run: --property valid-memsafety -DWRONG=2 => FALSE(valid-deref)
// run: --property valid-memsafety -DWRONG=3 => FALSE(valid-deref)
// run: --check address -DWRONG=4 => FALSE(address)
// native: unseen
// Locale objects are used after they were freed, in the library.
#define _GNU_SOURCE
#include <locale.h>

#ifndef WRONG
#define WRONG 0
#endif

int main(void) {
    locale_t own = newlocale(LC_CTYPE_MASK, "POSIX", 0);
    locale_t next = newlocale(LC_TIME_MASK, "", own);
    if (WRONG == 1)
        uselocale(own); // wrong
    freelocale(next);
    if (WRONG == 2)
        uselocale(next); // wrong
    if (WRONG == 3)
        duplocale(next); // wrong
    // The GNU C library has one object for the name "C".
    locale_t c = newlocale(LC_ALL_MASK, "C", 0);
    freelocale(c);
    if (WRONG == 4)
        uselocale(c); // wrong
    return 0;
}
