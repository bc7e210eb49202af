// run: --property no-overflow => TRUE
// run: --property no-overflow --32 => TRUE
// run: --property no-overflow -DBUG=1 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=2 => FALSE(no-overflow)
// run: --check unsigned-integer-overflow => TRUE
// A product at twice the width of its factors always fits.
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif

static long long scaled(int a, int b) {
    return ((long long)a * b) >> 16;
}

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    unsigned c = __VERIFIER_nondet_uint(), d = __VERIFIER_nondet_uint();
    short s = __VERIFIER_nondet_short();
    long long product = (long long)a * b + a - b;
    unsigned long long area = (unsigned long long)c * d;
    int small = s * (unsigned char)b;
    long long mixed = (long long)a * (c >> 1);
#if BUG == 1
    product = (long long)c * d; // wrong
#elif BUG == 2
    product = product * 2 + (long long)a * b; // wrong
#endif
    return (product ^ scaled(a, b) ^ mixed) == (long long)(area ^ small);
}
