#include "../verify.h"

static void assume_abort_if_not(int c) {
    if (!c)
        abort();
}

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    __VERIFIER_assume(x > 0 && x < 100);
    assume_abort_if_not(y > x);
    check(y > 1);
    wrong(y - x != 3000000 || x != 99);
    return 0;
}
