// run: --check unreach-call => TRUE
// run: --check assertions -DBUG => FALSE(unreach-call)
// run: --check default => TRUE
// run: --check all => TRUE
#include "../verify.h"
#include <assert.h>

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > 9)
        return 0;
#ifdef BUG
    assert(n < 9); // wrong
#endif
    assert(n < 10);
    return 0;
}
