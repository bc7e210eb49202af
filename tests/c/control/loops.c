#include "../verify.h"

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() & 15;
    unsigned sum = 0, i = 0, k = 0;
    while (i < n)
        sum += i++;
    check(sum == n * (n - 1) / 2 || n == 0);
    do {
        k++;
        if (k == 3)
            continue;
        if (k == 7)
            break;
    } while (k < n);
    check(k >= 1 && k <= 7);
    for (;;) {
        if (k++ > 20)
            break;
    }
    check(k == 22);
    wrong(sum != 66);
    return 0;
}
