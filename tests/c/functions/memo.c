// run: => TRUE
// run: --analysis symex => TRUE
// run: --analysis bmc => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DENDLESS => TRUE
// run: --analysis symex -DENDLESS => TRUE
// run: -DENDLESS -DBUG => FALSE(unreach-call)
// run: -DASSERTS => FALSE(unreach-call)
#include "../verify.h"

#ifdef ENDLESS
/* Does not return if `m` does not divide `n`. */
static int divides(int m, int n) {
    if (n < 0) return divides(m, -n);
    if (n == 0) return 1;
    return divides(m, n - m);
}
int main(void) {
    int m = __VERIFIER_nondet_int(), n = __VERIFIER_nondet_int();
    if (m < 2 || m > 4 || n < 1 || n > 12) return 0;
    int result = divides(m, n);
#ifdef BUG
    check(n != 9); // wrong
#else
    check(result == 1 && n != 1 && n != 5 && n != 7 && n != 11);
#endif
    return 0;
}
#else
/* There are so many calls that the analysis ends only if it stores their results. */
static int three(int n) {
    if (n < 2) return n;
#ifdef ASSERTS
    check(n != 11); // wrong
#endif
    return three(n - 1) + three(n - 2) + (n > 2 ? three(n - 3) : 0);
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n > 37) return 0;
    int result = three(n);
#ifdef BUG
    check(result != 274); // wrong
#else
    check(n <= 0 || result >= n - 1);
    check(three(36) == 1132436852);
#endif
    return 0;
}
#endif
