// run: => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
// An invalid access ends its path; other paths continue.
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
    int *p = x == 7 ? 0 : &x;
    wrong(x != 8);
    *p = 1;
    check(x == 1);
    return 0;
}
