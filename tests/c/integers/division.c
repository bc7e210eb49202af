// Division truncates towards zero, and the remainder has the sign of the dividend.
#include "../verify.h"

int main(void) {
    signed char a = __VERIFIER_nondet_schar(), b = __VERIFIER_nondet_schar();
    if (b == 0)
        return 0;
    int q = a / b, r = a % b;
    check(q * b + r == a);
    check(r == 0 || (r < 0) == (a < 0));
    check((r < 0 ? -r : r) < (b < 0 ? -b : b));
    wrong(a < 0 || b < 0 || r != 5 || q != 3);
    wrong(r >= 0);
    return 0;
}
