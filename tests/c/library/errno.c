#include "../verify.h"
#include <errno.h>

int main(void) {
    errno = 0;
    check(errno == 0);
    errno = __VERIFIER_nondet_int();
    wrong(errno != ENOENT);
    return 0;
}
