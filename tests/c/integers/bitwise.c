#include "../verify.h"

int main(void) {
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint();
    check((a ^ b) == ((a | b) & ~(a & b)));
    check((a & b) + (a | b) == a + b);
    check(~a == -a - 1);
    unsigned low = a & -a;
    check((low & (low - 1)) == 0);
    wrong((a & 0xff00) != 0xab00 || (b | 0xf) != 0x5f);
    return 0;
}
