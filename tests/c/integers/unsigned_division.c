#include "../verify.h"

int main(void) {
    unsigned short a = __VERIFIER_nondet_ushort();
    unsigned char b = __VERIFIER_nondet_uchar();
    if (b == 0)
        b = 1;
    unsigned q = a / (unsigned)b, r = a % (unsigned)b;
    check(r < b);
    check(q <= a);
    check(-1 / 2u == 0x7fffffffu);
    wrong(q != 300 || r != 7);
    return 0;
}
