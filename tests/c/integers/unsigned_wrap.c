// Unsigned arithmetic is modulo 2^n.
#include "../verify.h"

int main(void) {
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    check(a - b == ~(b - a) + 1);
    check((a + b) - b == a);
    check((unsigned char)(unsigned char)a == a % 256);
    wrong(a + 1 > a);
    return 0;
}
