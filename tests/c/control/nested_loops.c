#include "../verify.h"

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() & 3, m = __VERIFIER_nondet_uchar() & 3;
    unsigned count = 0;
    for (unsigned i = 0; i < n; i++)
        for (unsigned j = i; j < m; j++)
            count++;
    check(count <= n * m);
    wrong(count != 6);
    return 0;
}
