// run:  => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --32 => TRUE
// run: -DNARROW --solver z3 => TRUE
// run: -DNARROW -DBUG --solver z3 => FALSE(unreach-call)
// A float that does not fit into an integer type is converted as by the machine.
#include "../verify.h"

int main(void) {
    // Converted to int, and then truncated.
    unsigned char c = 250;
    c += 10.5;
    check(c == 4);
    double d = __VERIFIER_nondet_double();
    __VERIFIER_assume(d >= 250 && d < 260);
    c = d;
    check(c == (int)d % 256);
    wrong(c != 2);
    // Too large, too small, and NaN.
    float f = __VERIFIER_nondet_float();
    if (!(f > -2147483648.0f && f < 2147483648.0f)) {
        int i = f;
        check(i == -2147483647 - 1);
        check((signed char)f == 0 && (unsigned short)f == 0);
    }
    if (f > 2147483648.0f && f < 4294967296.0f) {
        check((unsigned)f > 2147483648u);
        wrong((unsigned)f != 3000000000u);
    }
    if (f < -10 && f > -20)
        check((unsigned)f >= -20u && (unsigned)f <= -10u);
    if (!(d > -1))
        check(0);
#ifndef NARROW
    short s = d * 256;
    check(s < 1024);
    long long l = d * 1e17;
    check(l < 0);
    long double e = d;
    check((signed char)(e * 200) == 0 == (e * 200 >= 32768 || (int)(e * 200) % 256 == 0));
#endif
    return 0;
}
