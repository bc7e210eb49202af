// A trap ends the program; it is not the error function.
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
    if (x == 3)
        __builtin_trap();
    check(x != 3);
    wrong(x != 4);
    return 0;
}
