// Decoding of encoded text.
#include "../verify.h"

static int encode(unsigned c, unsigned char *out) {
    if (c < 0x80) {
        out[0] = (unsigned char)c;
        return 1;
    }
    if (c < 0x800) {
        out[0] = (unsigned char)(0xc0 | c >> 6);
        out[1] = (unsigned char)(0x80 | (c & 63));
        return 2;
    }
    out[0] = (unsigned char)(0xe0 | c >> 12);
    out[1] = (unsigned char)(0x80 | (c >> 6 & 63));
    out[2] = (unsigned char)(0x80 | (c & 63));
    return 3;
}
static unsigned decode(const unsigned char *in) {
    if (in[0] < 0x80)
        return in[0];
    if (in[0] < 0xe0)
        return (in[0] & 31u) << 6 | (in[1] & 63);
    return (in[0] & 15u) << 12 | (in[1] & 63u) << 6 | (in[2] & 63);
}

int main(void) {
    unsigned c = __VERIFIER_nondet_ushort();
    unsigned char bytes[3] = {0};
    int n = encode(c, bytes);
    check(decode(bytes) == c);
    check(n == 1 || (bytes[n - 1] & 0xc0) == 0x80);
    wrong(n != 3 || bytes[2] != 0xac || bytes[0] != 0xe2 || bytes[1] != 0x82);
    return 0;
}
