// run: => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
// An undefined function.
#include "../verify.h"

extern int elsewhere(int);

int main(void) {
    int x = __VERIFIER_nondet_int();
    wrong(x != 8);
    check(elsewhere(x) == elsewhere(x));
    return 0;
}
