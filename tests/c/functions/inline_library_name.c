// run: --property unreach-call => FALSE(unreach-call)
// An inline definition of the program has the name of a library function with other parameters.
#include "../verify.h"

__inline void error(void) { wrong(__VERIFIER_nondet_int() != 5); }

int main(void) {
    error();
    return 0;
}
