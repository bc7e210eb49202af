/* Sorting: recursion, function pointers, memory moved by hand and by memmove. */
#include "report.h"
#include <string.h>

enum { N = 500 };
typedef int (*compare_t)(const void *, const void *);

static unsigned state = 12345;
static unsigned next(void) { return state = state * 1103515245u + 12345u; }

static int ascending(const void *a, const void *b) {
    int x = *(const int *)a, y = *(const int *)b;
    return (x > y) - (x < y);
}
static int descending(const void *a, const void *b) { return ascending(b, a); }
static int by_low_byte(const void *a, const void *b) {
    int x = *(const signed char *)a, y = *(const signed char *)b;
    return x != y ? x - y : ascending(a, b);
}

static void quicksort(char *base, size_t n, size_t size, compare_t compare) {
    char swap[16];
    while (n > 1) {
        char *pivot = base + (n / 2) * size;
        memcpy(swap, base, size); memcpy(base, pivot, size); memcpy(pivot, swap, size);
        size_t store = 0;
        for (size_t i = 1; i < n; i++)
            if (compare(base + i * size, base) < 0) {
                store++;
                memcpy(swap, base + i * size, size);
                memmove(base + i * size, base + store * size, size);
                memcpy(base + store * size, swap, size);
            }
        memcpy(swap, base, size); memmove(base, base + store * size, size); memcpy(base + store * size, swap, size);
        quicksort(base, store, size, compare);
        base += (store + 1) * size;
        n -= store + 1;
    }
}

static void insertion(int *a, int n) {
    for (int i = 1; i < n; i++) {
        int x = a[i], j = i;
        while (j > 0 && a[j - 1] > x) j--;
        memmove(a + j + 1, a + j, (i - j) * sizeof *a);
        a[j] = x;
    }
}

static void heapsort_(int *a, int n) {
    for (int end = n, start = n / 2; end > 1;) {
        if (start > 0) start--;
        else { end--; int t = a[0]; a[0] = a[end]; a[end] = t; }
        for (int root = start, child; (child = 2 * root + 1) < end; root = child) {
            if (child + 1 < end && a[child] < a[child + 1]) child++;
            if (a[root] >= a[child]) break;
            int t = a[root]; a[root] = a[child]; a[child] = t;
        }
    }
}

static void merge_sort(int *a, int n) {
    if (n < 2) return;
    int middle = n / 2, *left = malloc(middle * sizeof *left);
    merge_sort(a, middle);
    merge_sort(a + middle, n - middle);
    memcpy(left, a, middle * sizeof *left);
    for (int i = 0, j = middle, k = 0; i < middle; k++)
        a[k] = j < n && a[j] < left[i] ? a[j++] : left[i++];
    free(left);
}

int main(void) {
    static int arrays[6][N];
    compare_t orders[] = {ascending, descending, by_low_byte};
    for (int i = 0; i < N; i++) {
        int x = (int)(next() >> 7) % 2000 - 1000;
        for (int j = 0; j < 6; j++) arrays[j][i] = x;
    }
    for (int j = 0; j < 3; j++) quicksort((char *)arrays[j], N, sizeof(int), orders[j]);
    insertion(arrays[3], N);
    heapsort_(arrays[4], N);
    merge_sort(arrays[5], N);
    unsigned hash = 1;
    for (int j = 0; j < 6; j++)
        for (int i = 0; i < N; i++) hash = fold(hash, (unsigned long long)arrays[j][i]);
    for (int j = 3; j < 6; j++)
        if (memcmp(arrays[0], arrays[j], sizeof arrays[0]) != 0) hash = 0;
    report(hash);
}
