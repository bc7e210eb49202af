// The pre-analysis knows bounds of numbers and pointers in strings and arrays of any size. It drops a bound when the value with which it was
// compared changes.
// (`proviso/tests/held.rs` checks the number of proved places.)
// run: --check address -DFAULT=1 => FALSE(address)
// run: --check address -DFAULT=2 => FALSE(address)
// run: --check address -DFAULT=3 => FALSE(address)
// run: --check address -DFAULT=4 => FALSE(address)
// run: --check address -DFAULT=5 => FALSE(address)
// run: --check address -DFAULT=6 => FALSE(address)
// run: --check address -DFAULT=7 => FALSE(address)
// run: --check address -DFAULT=8 => FALSE(address)
// run: --check address -DFAULT=9 => FALSE(address)
// run: --check address -DFAULT=9 --32 => FALSE(address)
// run: --check address -DFAULT=10 => FALSE(address)
// run: --check address -DFAULT=10 --32 => FALSE(address)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef FAULT
#define FAULT 0
#endif

// Overwrites `n` bytes, and makes the first byte null.
static void clear(char *s, int n) {
    memset(s, 'x', n);
    s[0] = 0;
}

static char *copy(const char *s) {
    size_t n = strlen(s);
    char *p = malloc(n + 1);
    if (p)
        memcpy(p, s, n + 1);
    return p;
}

static int *numbers(size_t n) { return malloc(n * sizeof(int)); }

static void lines(void) {
    char line[40];
    while (fgets(line, sizeof line, stdin)) {
        char *comma = strchr(line, ',');
        if (!comma)
            continue;
        *comma = 0;
        char *name = copy(line);
        int age = atoi(comma + 1);
        printf("%s %d\n", name, age);
        free(name);
    }
}

static void elements(void) {
    size_t n = __VERIFIER_nondet_uint() & 0xffff;
    int *a = numbers(n);
    if (!a)
        return;
    for (size_t i = 0; i < n; i++)
        a[i] = 0;
    int *end = a + n;
    for (int *p = a; p != end; p++)
        *p += 1;
    free(a);
}

int main(int argc, char **argv) {
    char word[8] = "string";
    char *p = word;
#if FAULT == 0
    lines();
    elements();
#elif FAULT == 1
    // Other bytes overwrite the null byte, and there is another one before it.
    while (*p)
        p++;
    clear(word, sizeof word);
    while (*p) // wrong
        p++;
#elif FAULT == 2
    while (*p)
        p++;
    memset(word, 'x', sizeof word);
    word[1] = 0;
    while (*p) // wrong
        p++;
#elif FAULT == 3
    // The second object of the site is smaller than the first.
    int n = __VERIFIER_nondet_int();
    if (n < 4 || n > 6)
        return 0;
    int *a = 0;
    for (int turn = 0; turn < 2; turn++) {
        int *b = malloc((n - turn) * sizeof *b);
        if (turn == 1)
            for (int i = 0; i < n; i++)
                b[i] = 0; // wrong
        a = b;
    }
#elif FAULT == 4
    // An access at the end itself is out of bounds.
    unsigned n = __VERIFIER_nondet_uint() & 7;
    int *a = numbers(n);
    for (unsigned i = 0; i <= n; i++)
        a[i] = 0; // wrong
#elif FAULT == 5
    // The object is freed, and another one takes its place.
    char *q = malloc(4), *r = q;
    q[3] = 0;
    free(q);
    q = malloc(4);
    q[3] = 0;
    r[0] = 0; // wrong
#elif FAULT == 6
    // After the change, `n` is no longer the number of elements.
    unsigned n = 1 + (__VERIFIER_nondet_uint() & 7);
    int *a = numbers(n);
    unsigned last = n - 1;
    n++;
    if (last + 1 != n)
        last++;
    a[last] = 0; // wrong
#elif FAULT == 7
    // Only one of two arrays has this size.
    unsigned n = 2 + (__VERIFIER_nondet_uint() & 7);
    int *a = __VERIFIER_nondet_int() ? numbers(n) : numbers(1);
    for (unsigned i = 0; i < n; i++)
        a[i] = 0; // wrong
#elif FAULT == 8
    // A product that wraps around.
    unsigned n = __VERIFIER_nondet_uint();
    if (n != 0x40000001u)
        return 0;
    unsigned bytes = n * 4;
    int *a = malloc(bytes);
    if (!a)
        return 0;
    for (unsigned i = 0; i < n; i++)
        a[i] = 0; // wrong
#elif FAULT == 9
    // Both indices are in the string, one by wrapping around the address space.
    char *q = word + 1;
    size_t n = __VERIFIER_nondet_ulong();
    if (n != (size_t)-1 && n != 0)
        return 0;
    if (q[n])
        return word[n]; // wrong
#elif FAULT == 10
    // Before the start, which is before the end.
    size_t n = __VERIFIER_nondet_ulong() & 7;
    char *a = malloc(n + 1), *end = a + n, *q = a - 1;
    if (__VERIFIER_nondet_int())
        q = a;
    if (q < end)
        *q = 0; // wrong
#endif
    return 0;
}
