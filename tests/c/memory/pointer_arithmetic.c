#include "../verify.h"

int main(void) {
    short a[8];
    short *p = a, *end = a + 8;
    for (; p != end; ++p)
        *p = (short)(p - a);
    check(end - a == 8 && (char *)end - (char *)a == 16);
    unsigned n = __VERIFIER_nondet_uint() % 8;
    p = a + n;
    check(*p == (short)n && p[-(int)n] == 0);
    check((p < end) && (p >= a));
    wrong(&p[2] != &a[7]);
    return 0;
}
