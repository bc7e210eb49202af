#include "../verify.h"
#include <errno.h>
#include <stdlib.h>

int main(void) {
    errno = 0;
    check(errno == 0);
    // Less than half of the least float.
    check(strtof("1e-60", NULL) == 0 && errno == ERANGE);
    errno = 0;
    check(strtod("-12345678e-332", NULL) == 0 && errno == ERANGE);
    errno = __VERIFIER_nondet_int();
    wrong(errno != ENOENT);
    return 0;
}
