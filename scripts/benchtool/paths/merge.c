/* Two sorted arrays of N numbers are merged: each interleaving is a path of its own. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif

int main(void) {
    int a[N], b[N], c[2 * N], i = 0, j = 0, k = 0;
    for (int l = 0; l < N; l++) {
        a[l] = __VERIFIER_nondet_int();
        b[l] = __VERIFIER_nondet_int();
        if (l > 0 && (a[l] < a[l - 1] || b[l] < b[l - 1]))
            return 0;
    }
    while (i < N && j < N)
        c[k++] = a[i] <= b[j] ? a[i++] : b[j++];
    while (i < N)
        c[k++] = a[i++];
    while (j < N)
        c[k++] = b[j++];
    for (int l = 1; l < 2 * N; l++)
        if (c[l - 1] > c[l])
            reach_error();
    return 0;
}
