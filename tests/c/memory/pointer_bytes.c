// A pointer that is copied byte by byte has the same target.
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int(), y = 0;
    int *p = &x, *q = &y;
    unsigned char *from = (unsigned char *)&p, *to = (unsigned char *)&q;
    for (unsigned i = 0; i < sizeof p; i++)
        to[i] = from[i];
    check(q == p);
    *q = 9;
    check(x == 9 && y == 0);
    int *table[3] = {&x, &y, 0};
    unsigned i = __VERIFIER_nondet_uint() % 3;
    if (table[i])
        *table[i] += 1;
    wrong(x != 10);
    return 0;
}
