// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// The assertion function that SV-COMP's programs expect the verifier to define.
#include <ctype.h>
#include <stdlib.h>

extern void __VERIFIER_assert(int);

int main(int argc, char **argv) {
    __VERIFIER_assert(isspace(' '));
    __VERIFIER_assert(!isdigit(' '));
#ifdef BUG
    __VERIFIER_assert(argc != 3); // wrong
#endif
    return 0;
}
