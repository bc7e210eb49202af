// Signed arithmetic wraps around if the property does not include overflows.
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
    int y = (int)((unsigned)x + 1u);
    check(x == 2147483647 || y > x);
    int z = x + 1;
    check(z == y);
    wrong(z > x);
    return 0;
}
