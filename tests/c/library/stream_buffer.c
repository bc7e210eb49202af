// run: => FALSE(unreach-call)
// The content of a buffer that a stream uses is undefined.
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
