// run: --error-function __assert_fail => TRUE
// run: --error-function __assert_fail -DNDEBUG => TRUE
// run: --error-function __assert_fail -DFAILS => FALSE(unreach-call)
// The program calls no function of the C library for failed assertions, if no assertion is left of it.
#include <assert.h>

int main(void) {
#ifdef FAILS
    int number = 3;
    assert(number == 4); // with FAILS wrong
#endif
    return 0;
}
