// Floats as inputs: the solver must find a value.
#include "../verify.h"

int main(void) {
    double x = __VERIFIER_nondet_double();
    if (x > 0.0 && x < 1.0) {
        check(x * x < 1.0);
        check(x + 1.0 > x);
        wrong(x + x != 0.75);
    }
    return 0;
}
