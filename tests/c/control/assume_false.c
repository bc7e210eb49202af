// run: => TRUE
// A false assumption ends the execution.
#include "../verify.h"

int main(void) {
    unsigned char x = __VERIFIER_nondet_uchar();
    __VERIFIER_assume(x > 255);
    reach_error();
    return 0;
}
