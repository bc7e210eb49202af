#include "../verify.h"

int main(void) {
    int n = __VERIFIER_nondet_uchar() & 7, i = 0, sum = 0;
again:
    if (i >= n)
        goto out;
    sum += i++;
    goto again;
out:
    check(sum * 2 == n * (n - 1));
    if (n == 3)
        goto inside;
    while (i-- > 0) {
        sum--;
    inside:
        sum += 2;
    }
    check(n != 0 || sum == 0);
    wrong(sum != 28);
    return 0;
}
