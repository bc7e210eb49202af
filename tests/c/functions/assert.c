// Without a property file a failed assert is an error.
#include "../verify.h"
#include <assert.h>

int main(void) {
    unsigned x = __VERIFIER_nondet_uint();
    assert(x / 2 <= x);
#ifdef BUG
    assert(x != 77 && "wrong");
#endif
    return 0;
}
