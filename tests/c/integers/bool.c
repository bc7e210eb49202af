// _Bool is 0 or 1 whatever is stored.
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
    _Bool b = x;
    _Bool n = __VERIFIER_nondet_bool();
    check(b == (x != 0));
    check(b + b <= 2);
    check(n == 0 || n == 1);
    b += 5;
    check(b == 1);
    wrong(!n || x != 17);
    return 0;
}
