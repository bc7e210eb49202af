// run: => TRUE
// After an assumption that cannot hold nothing happens.
#include "../verify.h"

int main(void) {
    unsigned char x = __VERIFIER_nondet_uchar();
    __VERIFIER_assume(x > 255);
    reach_error();
    return 0;
}
