// run: => FALSE(unreach-call)
// A buffer that is given to a stream is no longer what it was.
#include <stdio.h>
#include "../verify.h"

int main(void) {
    static char buffer[BUFSIZ];
    int n = __VERIFIER_nondet_int();
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    printf("%d\n", n);
    check(n != 7); // wrong
    return 0;
}
