// If a function invalidates facts of its callers, the callers must drop them, even if the function creates a replacement: the null byte of a string,
// or an object of the same allocation site.
// run: --check address => TRUE
// run: --check address -DFAULT=1 => FALSE(address)
// run: --check address -DFAULT=1 --32 => FALSE(address)
// run: --check address -DFAULT=2 => FALSE(address)
// run: --check address -DFAULT=3 => FALSE(address)
// run: --check address -DFAULT=3 --32 => FALSE(address)
#include "../verify.h"
#include <stdlib.h>

#ifndef FAULT
#define FAULT 0
#endif

static void move_null(char *s, int end) {
    s[end] = 'z';
    s[0] = 0;
}

static void move_null_elsewhere(char *s, int end) { move_null(s, end); }

static int *numbers(unsigned n) {
    int *new = malloc(n * sizeof *new);
    if (!new)
        exit(0);
    return new;
}

static void shrink(int **p) {
    free(*p);
    *p = numbers(2);
}

int main(void) {
    char s[6];
    for (int i = 0; i < 5; i++)
        s[i] = __VERIFIER_nondet_char();
    s[5] = 0;
    char *end = s;
    while (*end)
        end++;
    int at = FAULT == 1 || FAULT == 2 ? 5 : 1;
    if (FAULT == 2)
        move_null_elsewhere(s, at);
    else
        move_null(s, at);
    while (*end) // wrong
        end++;

    unsigned n = 2 + __VERIFIER_nondet_uint() % 4;
    int *p = numbers(n);
    if (FAULT == 3)
        shrink(&p);
    for (unsigned i = 0; i < n; i++)
        p[i] = 0; // wrong
    free(p);
    return 0;
}
