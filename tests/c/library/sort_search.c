// qsort, qsort_r and bsearch call back.
#define _GNU_SOURCE
#include "../verify.h"
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}

static int compare_with(const void *a, const void *b, void *calls) {
    ++*(int *)calls;
    return -compare(a, b);
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
    int calls = 0;
    qsort_r(sorted, 5, sizeof *sorted, compare_with, &calls);
    check(calls >= 4 && sorted[0] == 9 && sorted[3] == 3);
    wrong(a[0] != -3 || a[2] != 100);
    return 0;
}
