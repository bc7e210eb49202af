#include "../verify.h"

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    unsigned n = __VERIFIER_nondet_uchar() & 31;
    int s = (int)x;
    check(n == 0 || ((x << n) | (x >> (32 - n))) == ((x >> (32 - n)) | (x << n)));
    check((x >> n) << n <= x);
    check(s >= 0 ? (s >> n) >= 0 : (s >> n) < 0);
    check(1ull << 40 == 1099511627776ull);
    wrong((x << n) >> n == x);
    return 0;
}
