// run: --std c23 => TRUE
// run: --std c23 -DBUG => FALSE(unreach-call)
// Integers of odd width.
#include "../verify.h"

int main(void) {
    unsigned _BitInt(13) a = __VERIFIER_nondet_uint();
    _BitInt(5) b = __VERIFIER_nondet_int();
    check(a <= 8191);
    check(b >= -16 && b <= 15);
    unsigned _BitInt(13) next = a + (unsigned _BitInt(13))1;
    check(next == (a == 8191 ? 0 : (unsigned)a + 1));
    wrong(a * a != (unsigned _BitInt(13))441 || b != -7 || a != 21);
    return 0;
}
