// run: -D TEST=0 => UNKNOWN
// run: -D TEST=1 => UNKNOWN
// run: -D TEST=2 => UNKNOWN
// run: -D TEST=3 => UNKNOWN
// run: -D TEST=4 => TRUE
// run: -D TEST=5 => TRUE
// run: -D TEST=6 => TRUE
// Distances between functions depend on the compiler and the linker. Comparisons of addresses for equality do not.
#include "../verify.h"
static int f(int x) { return x + 1; }
static int g(int x) { return x; }
static int table[4];
static unsigned long at(const void *p) { return (unsigned long)p; }
int main(void) {
    int (*p)(int) = f, (*q)(int) = g;
#if TEST == 2
    unsigned long distance = (unsigned long)q - (unsigned long)p;
    __VERIFIER_assert(distance != 32);
#endif
    int *first = table, *last = table + 3;
    __VERIFIER_assert(TEST == 0   ? (unsigned long)q - (unsigned long)p == 16
                      : TEST == 1 ? (unsigned long)p != (unsigned long)q + 16
                      : TEST == 3 ? at((void *)q) - 16 == at((void *)p)
                      : TEST == 4 ? p != q && p == f
                      : TEST == 5 ? last - first == 3 && last == first + 3
                                  : at((void *)p) != at((void *)q));
    return p(1) == q(0);
}
