// A recursion that is deeper than the verifier's native stack would allow.
#include "../verify.h"

static int depth(int n) { return n == 0 ? 0 : 1 + depth(n - 1); }

int main(void) {
    int d = depth(9000);
    check(d == 9000);
    wrong(d != 9000 || __VERIFIER_nondet_int() != 1);
    return 0;
}
