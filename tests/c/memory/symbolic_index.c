// Reads and writes at an unknown index.
#include "../verify.h"

int main(void) {
    unsigned char t[16];
    for (unsigned i = 0; i < 16; i++)
        t[i] = i * 17;
    unsigned i = __VERIFIER_nondet_uint() & 15, j = __VERIFIER_nondet_uint() & 15;
    check(t[i] == i * 17);
    unsigned char old = t[j];
    t[i] = 255;
    check(t[j] == (i == j ? 255 : old));
    wrong(t[j] != 153 || i != 2);
    return 0;
}
