// run: => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
// What IEEE 754 leaves open is over-approximated: it proves nothing false.
#include "../verify.h"
#include <math.h>

int main(void) {
    double x = __VERIFIER_nondet_double();
#ifdef BUG
    wrong(x != 3.0);
#else
    check(sin(x) <= 1.0 || sin(x) != 0.5 || x != x || x > 1e10);
    check(cos(x) + 3.0 > 1.0 || x != x || x - x != x - x);
#endif
    return 0;
}
