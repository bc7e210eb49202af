// run: => UNKNOWN
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

int main(void) {
    int a[4] = {0, 1, 2, 3};
    unsigned i = __VERIFIER_nondet_uint();
    wrong(i != 3);
    if (i > 4)
        return 0;
    check(a[i] == (int)i);
    return 0;
}
