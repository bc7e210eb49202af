// The lower bits of a product with a constant may be known although a factor is uninitialised: a sum of conditions, one of them uninitialised, may be
// zero (found by the attack).
// run: --check memory => TRUE
// run: --check memory -DWRONG => FALSE(memory)
#include "../../verify.h"

int main(void) {
    int n = __VERIFIER_nondet_int();
    double d; // it is not initialised
    long long sum = (n == n) * 2 + (d < 0) * 4;
#ifdef WRONG
    sum -= 2;
#endif
    if (sum) // wrong
        return 1;
    return 0;
}
