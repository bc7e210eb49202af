// run: --check float-divide-by-zero,float-cast-overflow => TRUE
// run: --check float-divide-by-zero -DBUG=1 => FALSE(float-divide-by-zero)
// run: --check float-cast-overflow -DBUG=2 => FALSE(float-cast-overflow)
// run: --check float-cast-overflow -DBUG=3 => FALSE(float-cast-overflow)
// run: --check undefined -DBUG=1 => TRUE
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    double d = __VERIFIER_nondet_double();
    double q = d > 0.0 || d < 0.0 || BUG == 1 ? 1.0 / d : 0.0;                       // wrong
    int i = d > -2147483649.0 && d < (BUG == 2 ? 2147483649.0 : 2147483648.0) ? d : 0; // wrong
    unsigned char c = d > (BUG == 3 ? -2.0 : -1.0) && d < 256.0 ? d : 0;              // wrong
    return q > 1.0 && i == 3 && c == 3;
}
