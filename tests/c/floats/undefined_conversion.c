// run: => UNKNOWN
// run: -DFOLDED => UNKNOWN
// run: -DSAFE => TRUE
// run: -DSAFE -DFOLDED => TRUE
// If compilers or libraries differ in the conversion of a float that does not fit, the result is any value.
#include "../verify.h"

int main(void) {
    double d = __VERIFIER_nondet_double();
#ifdef FOLDED
    int i = (int)1e20;
#else
    __int128 i = d;
#endif
#ifdef SAFE
    check(i == i + 0);
    if (d > -1e30 && d < 1e30) {
        __int128 j = d;
        check(j > -((__int128)1 << 100));
    }
#else
    if (!(d > -1e39 && d < 1e39))
        check(i > 0);
#endif
    return 0;
}
