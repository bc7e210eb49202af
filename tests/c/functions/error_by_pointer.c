// A call of an error function through a pointer is an error.
#include "../verify.h"

int main(void) {
    void (*f)(void) = 0;
    int x = __VERIFIER_nondet_int();
#ifdef BUG
    if (x == 5)
        f = reach_error;
#endif
    if (f)
        f(); // wrong
    return 0;
}
