// A function that fails sets `errno`, and a function that may fail may set it.
#include "../verify.h"
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

int main(void) {
    errno = 0;
    check(!calloc(SIZE_MAX / 2, 3) && errno == ENOMEM);
    errno = 0;
    check(!reallocarray(NULL, SIZE_MAX / 2, 3) && errno == ENOMEM);
    void *p = &p;
    check(posix_memalign(&p, 3, 8) == EINVAL && posix_memalign(&p, 64, SIZE_MAX) == ENOMEM && p == &p);
    int n = __VERIFIER_nondet_int();
    errno = 0;
    char *q = malloc(n);
    check(!q == (n < 0) && (errno == ENOMEM) == (n < 0));
    wrong(q);
    errno = 0;
    check(strtod("1e999", NULL) > 1 && errno == ERANGE);
    errno = 0;
    check(strtof("-1e-99", NULL) == 0 && errno == ERANGE);
    errno = 0;
    check(strtod("0.123456789012345678901234567890", NULL) >= 0 && errno == 0);
    check(tolower(-3) == 253 && toupper(-128) == 128 && toupper(-1) == -1 && tolower(1000) == 1000);
    return 0;
}
