// mean, median and range of the numbers on stdin
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    if (x < y) return -1;
    if (x > y) return 1;
    return 0;
}

int main(void) {
    int n = 0, capacity = 4;
    double *v = malloc(capacity * sizeof(double));
    if (v == NULL) return 3;
    double x;
    while (scanf("%lf", &x) == 1) {
        if (n == capacity) {
            capacity *= 2;
            double *bigger = realloc(v, capacity * sizeof(double));
            if (bigger == NULL) {
                free(v);
                return 3;
            }
            v = bigger;
        }
        v[n++] = x;
    }
    if (n == 0) {
        printf("no numbers\n");
        free(v);
        return 1;
    }
    if (!feof(stdin)) {
        printf("bad number after %d\n", n);
        free(v);
        return 1;
    }
    double sum = 0;
    for (int i = 0; i < n; i++) sum += v[i];
    qsort(v, n, sizeof *v, compare);
    double median = n % 2 ? v[n / 2] : (v[n / 2 - 1] + v[n / 2]) / 2;
    double mean = sum / n;
    printf("mean %g median %g range %g\n", mean, median, v[n - 1] - v[0]);
    if (fabs(mean - median) > 100)
        printf("skewed\n");
    if (floor(mean) <= median && median <= ceil(mean))
        printf("balanced\n");
    free(v);
    return 0;
}
