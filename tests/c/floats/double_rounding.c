// A float expression is evaluated in float, not in double.
#include "../verify.h"

int main(void) {
    float a = 0.1f;
    float b = a * a;
    check(b == 0.1f * 0.1f);
    check((double)b != (double)0.1f * (double)0.1f);
    double d = 1e308;
    check(d * 10.0 / 10.0 > d);
    float tiny = 1e-45f;
    check(tiny > 0.0f && tiny / 2.0f == 0.0f);
    unsigned char n = __VERIFIER_nondet_uchar();
    float s = n / 255.0f;
    check(s >= 0.0f && s <= 1.0f);
    wrong(s != 0.2f);
    return 0;
}
