// run: => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
    wrong(x != 5);
    int y = 10 / x;
    check(y * x <= 10 || x < 0);
    return 0;
}
