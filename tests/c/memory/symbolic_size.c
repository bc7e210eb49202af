// An allocation of unknown size.
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n < 1 || n > 1000)
        return 0;
    unsigned char *p = malloc(n);
    if (!p)
        return 0;
    p[0] = 1;
    p[n - 1] = 2;
    check(p[0] == (n == 1 ? 2 : 1));
    unsigned i = __VERIFIER_nondet_uint();
    if (i < n) {
        p[i] = 3;
        check(p[i] == 3);
        wrong(p[0] != 1 || p[n - 1] != 3 || n != 500);
    }
    free(p);
    return 0;
}
