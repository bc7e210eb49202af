// A checksum of symbolic bytes, by table and bit by bit.
#include "../verify.h"

static unsigned char bitwise(unsigned char c) {
    for (int i = 0; i < 8; i++)
        c = c & 0x80 ? (unsigned char)(c << 1 ^ 0x07) : (unsigned char)(c << 1);
    return c;
}

int main(void) {
    unsigned char table[256];
    for (int i = 0; i < 256; i++)
        table[i] = bitwise((unsigned char)i);
    unsigned char a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar();
    unsigned char crc = table[table[a] ^ b];
    check(table[0] == 0 && table[1] == 7);
    if (a == 0)
        check(crc == table[b]);
    wrong(crc != 0xf4 || a != '1');
    return 0;
}
