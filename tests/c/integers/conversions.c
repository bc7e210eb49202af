// The usual arithmetic conversions.
#include "../verify.h"

int main(void) {
    int i = __VERIFIER_nondet_int();
    unsigned u = __VERIFIER_nondet_uint();
    check((i < u) == ((unsigned)i < u));
    check(-1 > 0u);
    check(-1L < 0u);
    unsigned char c = (unsigned char)i;
    check(c <= 255);
    check((signed char)c == (c < 128 ? c : c - 256));
    wrong((long)i == (long)(unsigned)i);
    return 0;
}
