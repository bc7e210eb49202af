// run: --check float-cast-overflow => TRUE
// run: --check float-cast-overflow -DAT=EDGE => TRUE
// run: --check float-cast-overflow -DAT=BEYOND => FALSE(float-cast-overflow)
#include "edge.h"

int main(void) {
    double d = __VERIFIER_nondet_double();
    // The greatest double below 2^31, and 2^31.
    __VERIFIER_assume(d >= 0.0 && d <= at(100.0, 2147483647.9999998, 2147483648.0));
    int n = d; // wrong
    return n == 7;
}
