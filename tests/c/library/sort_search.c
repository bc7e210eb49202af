// qsort and bsearch call back.
#include "../verify.h"
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

int main(void) {
    int a[3];
    for (int i = 0; i < 3; i++)
        a[i] = __VERIFIER_nondet_schar();
    int total = a[0] + a[1] + a[2];
    qsort(a, 3, sizeof *a, compare);
    check(a[0] <= a[1] && a[1] <= a[2]);
    check(a[0] + a[1] + a[2] == total);
    int sorted[5] = {1, 3, 5, 7, 9}, key = 7;
    int *hit = bsearch(&key, sorted, 5, sizeof *sorted, compare);
    check(hit == &sorted[3]);
    wrong(a[0] != -3 || a[2] != 100);
    return 0;
}
