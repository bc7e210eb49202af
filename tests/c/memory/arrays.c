#include "../verify.h"

int main(void) {
    int a[5] = {1, 2, 3};
    check(a[3] == 0 && a[4] == 0);
    unsigned i = __VERIFIER_nondet_uint() % 5;
    a[i] = 10;
    int sum = 0;
    for (int k = 0; k < 5; k++)
        sum += a[k];
    check(sum >= 13 && sum <= 16);
    int m[2][3] = {{1, 2, 3}, {4, 5, 6}};
    check(*(*(m + 1) + 2) == 6 && (&m[0][0])[4] == 5);
    wrong(sum != 14);
    return 0;
}
