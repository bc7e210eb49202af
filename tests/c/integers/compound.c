// Compound assignment converts back to the type of its left side.
#include "../verify.h"

int main(void) {
    unsigned char c = __VERIFIER_nondet_uchar();
    unsigned char before = c;
    c += 200;
    check(c == (before + 200) % 256);
    c <<= 1;
    c ^= c;
    check(c == 0);
    short s = -1;
    s >>= 3;
    check(s == -1);
    int i = 7;
    i *= 2.5;
    check(i == 17);
    i %= 5;
    check(i == 2);
    c = before;
    c -= 100;
    wrong(c <= before);
    return 0;
}
