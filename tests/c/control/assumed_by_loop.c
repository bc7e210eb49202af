// An assumption written as an infinite loop: a slice removes it, so a violation of the slice may not exist in the program.
// run: --property unreach-call => TRUE
// run: --property unreach-call -DBUG => FALSE(unreach-call)
// run: --property unreach-call --slicing off -DBUG => FALSE(unreach-call)
#include "../verify.h"

static void assume_by_loop(int holds) {
    while (!holds)
        ;
}

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    assume_by_loop(a > 10);
    assume_by_loop(b > 10 && b < 1000 && a < 1000);
    check(a + b > 20);
    wrong(a * b != 123 * 17);
}
