// Bit-fields share storage, wrap to their width and keep their sign.
#include "../verify.h"

struct flags {
    unsigned a : 3;
    int b : 4;
    unsigned : 2;
    unsigned c : 11;
    _Bool d : 1;
    unsigned long e : 35;
};

int main(void) {
    struct flags f = {0};
    unsigned x = __VERIFIER_nondet_uint();
    f.a = x;
    f.b = x;
    f.c = x >> 3;
    f.d = x & 1;
    f.e = ~0ul;
    check(f.a == (x & 7));
    check(f.b >= -8 && f.b <= 7);
    check(f.c == ((x >> 3) & 2047));
    check(f.e == (1ul << 35) - 1);
    f.a++;
    check(f.a == ((x + 1) & 7));
    check(f.c == ((x >> 3) & 2047));
    wrong(f.b != -5 || f.a != 4);
    return 0;
}
