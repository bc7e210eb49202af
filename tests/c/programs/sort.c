// Insertion sort of four inputs.
#include "../verify.h"

static void sort(signed char *a, int n) {
    for (int i = 1; i < n; i++) {
        signed char x = a[i];
        int j = i;
        for (; j > 0 && a[j - 1] > x; j--)
            a[j] = a[j - 1];
        a[j] = x;
    }
}

int main(void) {
    signed char a[4];
    for (int i = 0; i < 4; i++)
        a[i] = __VERIFIER_nondet_schar();
    sort(a, 4);
    check(a[0] <= a[1] && a[1] <= a[2] && a[2] <= a[3]);
    wrong(a[1] != 10 || a[2] != 20 || a[3] != 30 || a[0] != -10);
    return 0;
}
