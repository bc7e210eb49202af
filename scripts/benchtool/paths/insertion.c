/* Insertion sort of N numbers: each order of them is a path of its own. */
extern int __VERIFIER_nondet_int(void);
extern void reach_error(void);
#ifndef N
#define N 7
#endif

int main(void) {
    int a[N];
    for (int i = 0; i < N; i++)
        a[i] = __VERIFIER_nondet_int();
    for (int i = 1; i < N; i++) {
        int x = a[i], j = i - 1;
        for (; j >= 0 && a[j] > x; j--)
            a[j + 1] = a[j];
        a[j + 1] = x;
    }
    for (int i = 1; i < N; i++)
        if (a[i - 1] > a[i])
            reach_error();
    return 0;
}
