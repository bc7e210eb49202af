// Conditions on an element of a constant table of 65,536 at any index.
#include "../verify.h"

#define V(i) ((int)(((i) * 2654435761u) >> 12))
#define A(i) V(i), V((i) + 1), V((i) + 2), V((i) + 3)
#define B(i) A(i), A((i) + 4), A((i) + 8), A((i) + 12)
#define C(i) B(i), B((i) + 16), B((i) + 32), B((i) + 48)
#define D(i) C(i), C((i) + 64), C((i) + 128), C((i) + 192)
#define E(i) D(i), D((i) + 256), D((i) + 512), D((i) + 768)
#define F(i) E(i), E((i) + 1024), E((i) + 2048), E((i) + 3072)
#define G(i) F(i), F((i) + 4096), F((i) + 8192), F((i) + 12288)
static const int table[65536] = {G(0), G(16384), G(32768), G(49152)};

int main(void) {
    unsigned i = __VERIFIER_nondet_uint();
    if (i >= 65536)
        return 0;
#ifdef BUG
    check(table[i] != V(51234)); // wrong
#else
    check(table[i] != table[i + 1 & 65535] || i == 65535);
#endif
    return 0;
}
