#include "../verify.h"

static int a[1000];

/* Two paths write the same value to an array that is too large for a choice between cells, but have different facts about `x`. */
int main(void) {
    int i = __VERIFIER_nondet_int(), j = __VERIFIER_nondet_int(), x;
    if (i < 0 || i >= 1000 || j < 0 || j >= 1000)
        return 0;
    if (__VERIFIER_nondet_int())
        x = i;
    else
        x = j;
    a[i] = 1;
    int k = 0;
    while (k < 2) {
        k++;
        check(k < 10);
    }
    check(a[x] == 1 || x != i);
    wrong(a[x] == 1); // wrong
    return 0;
}
