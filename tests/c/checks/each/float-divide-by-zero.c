// run: --check float-divide-by-zero => TRUE
// run: --check float-divide-by-zero -DAT=EDGE => TRUE
// run: --check float-divide-by-zero -DAT=BEYOND => FALSE(float-divide-by-zero)
#include "edge.h"

int main(void) {
    double smallest = 4.9406564584124654e-324;
    double by = __VERIFIER_nondet_double();
    __VERIFIER_assume(by >= at(1.0, smallest, 0.0));
    return 1.0 / by == 2.0; // wrong
}
