// A fact about memory and a variable, from a read or an assignment, holds only until either changes.
// run: --check address => TRUE
// run: --check address -DFAULT=1 => FALSE(address)
// run: --check address -DFAULT=2 => FALSE(address)
// run: --check address -DFAULT=3 => FALSE(address)
// run: --check address -DFAULT=4 => FALSE(address)
// run: --check address -DFAULT=5 => FALSE(address)
// run: --check address -DFAULT=6 => FALSE(address)
// native: no
#include "../verify.h"
#include <string.h>

#ifndef FAULT
#define FAULT 0
#endif

static int numbers[2];

static void change(void) { numbers[0] = 3; }

static void perhaps_move_null(char *s) {
    if (__VERIFIER_nondet_int()) {
        s[5] = 'z';
        s[0] = 0;
    }
}

int main(void) {
    int table[3] = {0};
    numbers[0] = __VERIFIER_nondet_int();
    char s[6];
    for (int i = 0; i < 5; i++)
        s[i] = __VERIFIER_nondet_char();
#if FAULT != 3
    s[5] = 0;
#endif
    char *p = s;
#if FAULT == 0
    unsigned read = numbers[0];
    if (read < 3)
        table[numbers[0]] = 1;
    while (*p)
        p++;
    return *p;
#elif FAULT == 1
    // The element has another value now.
    unsigned read = numbers[0];
    numbers[0] = 3;
    if (read < 3)
        table[numbers[0]] = 1; // wrong
#elif FAULT == 2
    unsigned read = numbers[0];
    change();
    if (read < 3)
        table[numbers[0]] = 1; // wrong
#elif FAULT == 3
    // The byte that was not null is now the only null byte.
    char first = *p;
    s[0] = 0;
    if (first) {
        p++;
        while (*p) // wrong
            p++;
    }
#elif FAULT == 4
    // `q` was one more than an earlier value of `p`.
    p = s + 5;
    char *q = p + 1;
    p = s;
    if (*p)
        return *q; // wrong
#elif FAULT == 5
    // One byte is left, not two.
    while (*p)
        p++;
    memcpy(table, p, 2); // wrong
#elif FAULT == 6
    while (*p)
        p++;
    perhaps_move_null(s);
    while (*p) // wrong
        p++;
#endif
    return 0;
}
