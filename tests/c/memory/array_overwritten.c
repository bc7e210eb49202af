// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --analysis symex-cegar -DBUG => FALSE(unreach-call)
// run: --analysis predicate -DBUG => FALSE(unreach-call)
#include "../verify.h"

static int a[300], one, two;
static int *p[600];

/* After a write at an unknown index, earlier facts about cells and addresses do not hold any more. */
int main(void) {
    a[5] = 7;
    p[0] = &one;
    int n = __VERIFIER_nondet_int(), i = 0;
    while (i < 3) {
        i++;
        check(a[5] == 7);
    }
    if (n < 0 || n >= 300)
        return 0;
    a[n] = 9;
    p[n] = &two;
    unsigned j = 0;
    while (j < 2) {
        j++;
        check(j < 7);
    }
    check(a[5] == (n == 5 ? 9 : 7));
    check(p[0] == (n == 0 ? &two : &one));
#ifdef BUG
    if (__VERIFIER_nondet_bool())
        check(a[5] == 7); // wrong
    check(p[0] == &one);  // wrong
#endif
    return 0;
}
