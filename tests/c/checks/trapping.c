// run: -ftrapv --check default => FALSE(signed-integer-overflow)
// run: -ftrapv => TRUE
// run: -ftrapv --check unreach-call,signed-integer-overflow => FALSE(signed-integer-overflow)
// With -ftrapv, no execution continues after a signed overflow, so the assertion holds.
#include "../verify.h"

int main(void) {
    int a = __VERIFIER_nondet_int();
    int b = a + 1; // wrong
    check(b > a);
    return 0;
}
