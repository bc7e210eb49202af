#include "../verify.h"

static unsigned gcd(unsigned a, unsigned b) {
    while (b) {
        unsigned r = a % b;
        a = b;
        b = r;
    }
    return a;
}

int main(void) {
    unsigned a = __VERIFIER_nondet_uchar() & 7, b = __VERIFIER_nondet_uchar() & 7;
    unsigned g = gcd(a, b);
    check(g == 0 ? a == 0 && b == 0 : a % g == 0 && b % g == 0);
    wrong(g != 3 || a <= b || b == 3);
    return 0;
}
