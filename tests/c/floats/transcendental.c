// run: => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
// Results that IEEE 754 leaves open are over-approximated, so nothing false is proved.
#include "../verify.h"
#include <math.h>

int main(void) {
    double x = __VERIFIER_nondet_double();
#ifdef BUG
    wrong(x != 3.0);
#else
    check(sin(x) != 0.125);
#endif
    return 0;
}
