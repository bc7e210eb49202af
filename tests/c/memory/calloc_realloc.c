#include "../verify.h"
#include <stdlib.h>

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() % 4 + 1;
    int *p = calloc(n, sizeof(int));
    if (!p)
        return 0;
    for (unsigned i = 0; i < n; i++)
        check(p[i] == 0);
    p[n - 1] = 5;
    int *q = realloc(p, (n + 4) * sizeof(int));
    if (!q)
        return 0;
    check(q[n - 1] == 5);
    q[n + 3] = 6;
    check(q[n - 1] == 5);
    wrong(n != 3);
    free(q);
    return 0;
}
