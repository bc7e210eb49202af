// Every width: promotion, truncation, wrap-around.
#include "../verify.h"

int main(void) {
    signed char c = __VERIFIER_nondet_schar();
    short s = __VERIFIER_nondet_short();
    int i = __VERIFIER_nondet_int();
    long long l = __VERIFIER_nondet_longlong();
    check(sizeof(c + c) == sizeof(int));
    check((signed char)(c + 256) == c);
    check((short)(s + 65536) == s);
    check((int)((long long)i + (1LL << 32)) == i);
    check((l >> 63) == (l < 0 ? -1 : 0));
    wrong((signed char)(c + 1) > c);
    return 0;
}
