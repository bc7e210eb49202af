// run: --property no-overflow => TRUE
// run: --property no-overflow -DBUG=1 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=2 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=3 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=4 => FALSE(no-overflow)
// Left shifts of signed integers: of negative ones, by too much, and of bits into the sign.
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    int x = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
    unsigned char byte = __VERIFIER_nondet_uchar();
    int left = 0;
    if (n >= (BUG == 1 ? -1 : 0) && n <= 30 + (BUG == 2))
        left = 1 << n; // wrong
    if (x >= (BUG == 3 ? -1 : 0) && x < 1 << 20)
        left ^= x << 11; // wrong
    // A byte is promoted to int, whose sign bit it must not reach.
    if (BUG == 4 || byte < 128)
        left ^= byte << 24; // wrong
    unsigned u = (unsigned)byte << 24;
    // Right shifts do not overflow.
    return left ^ x >> (n & 31) ^ (int)(u >> 8);
}
