// Comparing a pointer with another one into the same object bounds its offset, in multiples of its step.
// So traversals of arrays of unknown size are proved to stay in the object. Each fault leaves it.
// run: --check address => TRUE
// run: --check address -DFAULT=1 => FALSE(address)
// run: --check address -DFAULT=2 => FALSE(address)
// run: --check address -DFAULT=3 => FALSE(address)
// run: --check address -DFAULT=4 => FALSE(address)
// run: --check address -DFAULT=5 => FALSE(address)
// run: --check address -DFAULT=6 => FALSE(address)
// run: --check address -DFAULT=7 => FALSE(address)
#include "../verify.h"
#include <stdlib.h>
#ifndef FAULT
#define FAULT 0
#endif

struct pair {
    short key;
    int value;
};

static void filled(size_t n) {
    int *all = malloc(n * sizeof *all), *end = all + n;
    for (int *p = all; p != end; p++)
        *p = 1;
    for (int *p = all; FAULT == 1 ? p <= end : p < end; ++p)
        *p = 2; // wrong
    if (FAULT == 2 && n == 5)
        end++;
    while (end != all)
        *--end = 3; // wrong
    free(all);
}

// In steps of two: the pointer never stops at the skipped elements.
static void by_two(size_t n) {
    int *all = malloc((2 * n - (FAULT == 3)) * sizeof *all), *end = all + 2 * n;
    for (int *p = all; p < end; p += 2)
        p[0] = p[1] = 4; // wrong
    free(all);
}

static void of_pairs(size_t n) {
    struct pair *all = calloc(n, sizeof *all), *end = all + n;
    for (struct pair *p = all; p != end; p++)
        p->value = p->key;
    // In the middle of an element.
    short *last = (short *)end;
    for (short *p = &all->key; p < last; p += 4)
        p[FAULT == 4 ? 4 : 3] = 5; // wrong
    free(all);
}

static int numbers[50000];

static int sum(const int *from, const int *to) {
    int all = 0;
    while (from < to)
        all |= *from++; // wrong
    return all;
}

static void of_known_size(void) {
    int *p;
    for (p = numbers; p != &numbers[50000]; ++p)
        *p = 6;
    if (FAULT == 5)
        *p = 7; // wrong
    for (p = numbers; p + 1 < numbers + 50000; p++)
        p[1] = p[0];
    if (FAULT == 6)
        p[1] = 8; // wrong
    sum(numbers, numbers + 50000 + (FAULT == 7));
}

int main(void) {
    size_t n = __VERIFIER_nondet_uint();
    filled(n);
    by_two(n);
    of_pairs(n);
    of_known_size();
}
