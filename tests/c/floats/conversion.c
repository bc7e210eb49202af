// Floats to integers and back.
#include "../verify.h"

int main(void) {
    int i = __VERIFIER_nondet_int();
    check((int)(double)i == i);
    check((long long)(long double)i == i);
    check((int)2.9 == 2 && (int)-2.9 == -2);
    check((unsigned char)200.7f == 200);
    unsigned long big = 0xffffffffffffffffu;
    check((double)big == 18446744073709551616.0);
    float f = i;
    wrong((double)f == (double)i);
    return 0;
}
