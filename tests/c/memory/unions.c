// Reading a union returns the bytes that were stored last.
#include "../verify.h"

union u {
    unsigned i;
    unsigned char b[4];
    float f;
    struct { unsigned short low, high; } h;
};

int main(void) {
    union u u;
    u.i = __VERIFIER_nondet_uint();
    check(u.b[0] == (u.i & 255) && u.h.high == u.i >> 16);
    u.f = 1.0f;
    check(u.i == 0x3f800000);
    u.b[3] = 0xbf;
    check(u.f == -1.0f);
    u.i = __VERIFIER_nondet_uint();
    wrong(u.f != 0.15625f);
    return 0;
}
