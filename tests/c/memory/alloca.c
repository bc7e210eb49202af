#include "../verify.h"

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() % 5 + 1;
    unsigned char *p = __builtin_alloca(n), *q = __builtin_alloca(8);
    __builtin_memset(p, 7, n);
    q[0] = 1;
    check(p != q);
    unsigned sum = 0;
    for (unsigned i = 0; i < n; i++)
        sum += p[i];
    check(sum == 7 * n && q[0] == 1);
    wrong(sum != 35);
    return 0;
}
