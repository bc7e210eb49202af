// Functions without a prototype, K&R definitions.
// run: --std gnu11 => TRUE
// run: --std gnu11 -DBUG => FALSE(unreach-call)
#include "../verify.h"

int late();
static int old(a, b) int a; char b; { return a + b; }

int main(void) {
    signed char x = __VERIFIER_nondet_schar();
    check(late(x, 2) == x + 2);
    check(old(x, 'a') == x + 'a');
    wrong(late(1, x) != 100);
    return 0;
}
int late(int a, int b) { return a + b; }
