// The 80-bit format has 64 bits of significand.
#include "../verify.h"

int main(void) {
    unsigned long long u = __VERIFIER_nondet_ulonglong();
    long double x = u;
    check((unsigned long long)x == u);
    long double third = 1.0L / 3.0L;
    check(third != (long double)(1.0 / 3.0));
    check(sizeof(long double) == 16);
    long double big = 18446744073709551615.0L;
    check(big + 1.0L == 18446744073709551616.0L && big != big + 1.0L);
    wrong((unsigned long long)(double)u == u || u > 9007199254740999u);
    return 0;
}
