#include "../verify.h"

struct __attribute__((packed)) tight { char c; int i; short s; };
struct __attribute__((aligned(32))) loose { char c; };

int main(void) {
    struct tight t[2];
    check(sizeof t == 14 && sizeof(struct loose) == 32);
    t[0].i = __VERIFIER_nondet_int();
    t[1].c = 'x';
    t[1].i = -1;
    unsigned char *p = (unsigned char *)t;
    check(p[7] == 'x' && p[8] == 0xff);
    check((p[1] | p[2] << 8 | p[3] << 16 | p[4] << 24) == t[0].i);
    struct loose l;
    check(((unsigned long)&l & 31) == 0);
    wrong(p[4] != 0x12);
    return 0;
}
