// Arrays of variable length.
#include "../verify.h"

static int last(unsigned n, int a[n]) { return a[n - 1]; }

int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n == 0 || n > 6)
        return 0;
    int a[n];
    check(sizeof a == n * sizeof(int));
    for (unsigned i = 0; i < n; i++)
        a[i] = (int)(i * i);
    check(last(n, a) == (int)((n - 1) * (n - 1)));
    for (unsigned k = 1; k <= 3; k++) {
        char inner[k][2];
        inner[k - 1][1] = (char)k;
        check(sizeof inner == 2 * k && inner[k - 1][1] == (int)k);
    }
    wrong(last(n, a) != 16);
    return 0;
}
