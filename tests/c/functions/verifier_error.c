// The old name of the error function.
#include "../verify.h"

extern void __VERIFIER_error(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x * 2 == 1)
        __VERIFIER_error();
#ifdef BUG
    if (x == -3)
        __VERIFIER_error(); // wrong
#endif
    return 0;
}
