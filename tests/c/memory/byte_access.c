// Objects are bytes, little-endian.
#include "../verify.h"

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    unsigned char *p = (unsigned char *)&x;
    unsigned y = p[0] | p[1] << 8 | p[2] << 16 | (unsigned)p[3] << 24;
    check(x == y);
    p[1] = 0xab;
    check((x & 0xff00) == 0xab00);
    short *s = (short *)p;
    s[1] = -1;
    check(x >> 16 == 0xffff);
    long l = 0x0102030405060708;
    check(*(char *)&l == 8 && *(int *)((char *)&l + 2) == 0x03040506);
    wrong(p[0] != 0x5a);
    return 0;
}
