#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x < 3 || x > 5)
        return 0;
    __builtin_assume(x > 0);
    check(x > 0);
    wrong(x != 4);
    return 0;
}
