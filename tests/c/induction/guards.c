// run: => TRUE
// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* Functions that end the program unless a condition holds: the condition holds after their return. */
static void need(int condition) {
    if (!condition) abort();
}
static void at_most(unsigned n, unsigned most) {
    if (n > most) abort();
}
int main(void) {
    unsigned a = __VERIFIER_nondet_uint(), b = __VERIFIER_nondet_uint(), rest = 1;
    at_most(a, 1000);
    check(a <= 1000);
    while (rest != 0) {
#ifndef BUG
        need(b != 0);
#endif
        check(b != 0); // wrong
        unsigned quotient = a / b;
        check((unsigned long long)(quotient * b) <= 0xffffffff);
        rest = a - quotient * b;
        a = b;
        b = rest;
    }
    return 0;
}
