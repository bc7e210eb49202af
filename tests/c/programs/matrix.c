#include "../verify.h"

#define N 3
static void multiply(int c[N][N], int a[N][N], int b[N][N]) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            c[i][j] = 0;
            for (int k = 0; k < N; k++)
                c[i][j] += a[i][k] * b[k][j];
        }
}

int main(void) {
    int a[N][N], one[N][N] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, c[N][N];
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            a[i][j] = __VERIFIER_nondet_schar();
    multiply(c, a, one);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            check(c[i][j] == a[i][j]);
    multiply(c, a, a);
    wrong(c[0][0] != 14 || a[0][1] != 1 || a[1][0] != 5);
    return 0;
}
