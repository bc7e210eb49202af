// __int128: arithmetic, division, conversion.
#include "../verify.h"

int main(void) {
    unsigned long a = __VERIFIER_nondet_ulong(), b = __VERIFIER_nondet_ulong();
    unsigned __int128 sum = (unsigned __int128)a + b;
    check((unsigned long)sum == a + b);
    check((unsigned long)(sum >> 64) == (a + b < a));
    __int128 big = (__int128)1 << 100;
    check(big / 1000000007 * 1000000007 + big % 1000000007 == big);
    check((__int128)-7 / 2 == -3);
    unsigned int c = __VERIFIER_nondet_uint();
    unsigned __int128 product = (unsigned __int128)c * c;
    check(product >> 64 == 0);
    wrong((unsigned long)(sum >> 64) == 0);
    return 0;
}
