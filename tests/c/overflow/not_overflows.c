// run: --property no-overflow => TRUE
// run: --property no-overflow --32 => TRUE
// Unsigned arithmetic wraps around, conversions to a narrower type keep the low bits, and types narrower than int
// are computed as int. None of this overflows.
#include "../verify.h"

struct bits {
    int narrow : 3;
    unsigned flag : 1;
};

int main(void) {
    unsigned u = __VERIFIER_nondet_uint();
    u = u * u + 1;
    u = -u;
    u <<= 31;
    int i = (int)u;
    short s = 32767;
    s++;
    s += 1000;
    s *= 300;
    signed char c = -128;
    c--;
    c = -c;
    c = (signed char)i;
    struct bits b = {3, 1};
    b.narrow++;
    b.flag++;
    unsigned short big = 65535;
    long long wide = (long long)i * i;
    check(s != 1 || c != 1 || b.narrow == -4 || wide != 1);
    return big + s + c + b.narrow + b.flag;
}
