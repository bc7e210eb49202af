#include "../verify.h"

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    check(__builtin_popcount(x) <= 32);
    if (x != 0) {
        check((x >> __builtin_ctz(x)) & 1);
        check((x << __builtin_clz(x)) >> 31);
        check(__builtin_ffs((int)x) == __builtin_ctz(x) + 1);
    }
    check(__builtin_bswap32(__builtin_bswap32(x)) == x);
    check(__builtin_bswap16(0x1234) == 0x3412);
    check(__builtin_parity(x) == (__builtin_popcount(x) & 1));
    check(__builtin_rotateleft32(x, 8) == (x << 8 | x >> 24));
    check(__builtin_bitreverse8(0x0b) == 0xd0);
    wrong(__builtin_popcount(x) != 3 || __builtin_ctz(x) != 7);
    return 0;
}
