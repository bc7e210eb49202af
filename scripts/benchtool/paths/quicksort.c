/* Quicksort of N numbers. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif

static void sort(int *a, int from, int to) {
    if (to - from < 2)
        return;
    int pivot = a[from], low = from;
    for (int i = from + 1; i < to; i++)
        if (a[i] < pivot) {
            int t = a[++low];
            a[low] = a[i];
            a[i] = t;
        }
    a[from] = a[low];
    a[low] = pivot;
    sort(a, from, low);
    sort(a, low + 1, to);
}

int main(void) {
    int a[N];
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    sort(a, 0, N);
    for (int i = 1; i < N; i++)
        if (a[i - 1] > a[i])
            reach_error();
    return 0;
}
