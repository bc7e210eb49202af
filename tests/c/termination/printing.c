// What library models assume of what they take is no end of the program.
// run: --property termination => FALSE(termination)
// run: -DRIGHT --property termination => TRUE
#include <stdio.h>
#include "../verify.h"

int main(void) {
    int j = __VERIFIER_nondet_int();
    while (j > 0) { // wrong
        printf("%d\n", j);
#ifdef RIGHT
        j--;
#endif
    }
    return 0;
}
