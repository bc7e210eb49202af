// Bounds of indices in strings, and of pointers that traverse them, are known after checks at other places and after
// calls.
// run: --check address,bounds,null,alignment,pointer-overflow,signed-integer-overflow => TRUE
// run: --check address -DFAULT=1 => FALSE(address)
// run: --check address -DFAULT=2 => FALSE(address)
// run: --check address -DFAULT=3 => FALSE(address)
// run: --check pointer-overflow -DFAULT=4 => FALSE(pointer-overflow)
// run: --check address -DFAULT=5 => FALSE(address)
// run: --check signed-integer-overflow -DFAULT=6 => FALSE(signed-integer-overflow)
// run: --check bounds,address -DFAULT=7 => FALSE(address)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAULT
#define FAULT 0
#endif

static char next(char c, int by) {
    if (c >= 'a' && c <= 'z')
        return (char)('a' + (c - 'a' + by) % 26);
#if FAULT == 5
    return c;
#endif
    return c == ' ' ? '_' : c;
}

static void turn(char *s, int by) {
    size_t n = strlen(s);
#if FAULT == 5
    n += 9;
#endif
    for (size_t i = 0; i < n; i++)
        s[i] = next(s[i], by); // wrong with FAULT 5
}

static int words(const char *line) {
    int n = 0, value = 0;
    for (const char *p = line; *p; p++) // wrong with FAULT 2
        if (*p == ' ') // wrong with FAULT 2
            n = 1;
        // The value that is read again is the one that was compared.
        else if (*p >= '0' && *p <= '9' && value < 100000000) // wrong with FAULT 2
            value = value * 10 + (*p - '0');                // wrong with FAULT 2
    return n + value % 2;
}

// The index is in the array as long as the string before it has not ended.
static void lower(void) {
    char line[12];
    while (fgets(line, sizeof line, stdin)) {
        int i = 0;
        while (line[i]) {
            if (line[i] == 'X')
                line[i] = 'x';
            i++;
        }
        turn(line, 3);
        words(line);
    }
}

// Steps back from the end.
static int last(const char *s) {
    long n = (long)strlen(s);
    int found = 0;
    for (long i = n - 1; i >= 0; i--)
        if (s[i] == '/') {
            found = 1;
            break;
        }
    return found;
}

#if FAULT == 3
static void *twice(void *p) {
    free(p);
    return p;
}
#endif

// The value that was read has been overwritten.
static int again(const unsigned char *s, unsigned char *t) {
    int counts[4] = {0};
    if (*s >= 4)
        return 0;
#if FAULT == 7
    *t = 4;
#endif
    return counts[*s]; // wrong with FAULT 7
}

int main(void) {
    unsigned char digit = __VERIFIER_nondet_uchar();
    again(&digit, &digit);
    lower();
    last("usr/bin");
    long by = __VERIFIER_nondet_int();
    long cells[16] = {0};
    if (by < 0 || by >= 16)
        return 0;
    // The index times the size of an element, as in the check, has more than 64 bits.
    cells[by] = 1;
    long *middle = cells + 8;
    long away = by - 8;
    middle[away] = 2;
#if FAULT == 1
    middle[away + 1] = 3; // wrong with FAULT 1
#elif FAULT == 2
    words(__VERIFIER_nondet_bool() ? "a b" : 0);
#elif FAULT == 3
    char *text = twice(malloc(4));
    text[0] = 'a'; // wrong with FAULT 3
#elif FAULT == 4
    long far = __VERIFIER_nondet_long();
    long *end = cells + far; // wrong with FAULT 4
    if (end == cells)
        return 1;
#elif FAULT == 6
    long large = __VERIFIER_nondet_long();
    if (large < 1L << 40)
        return (large * 4194304) != 0; // wrong with FAULT 6
#else
    long large = __VERIFIER_nondet_int();
    return (large * 4194304) != 0;
#endif
    return 0;
}
