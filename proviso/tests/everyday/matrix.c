/* Multiplies two matrices from standard input. */
#include <stdio.h>
#include <stdlib.h>

#define MOST 4

struct matrix {
    int rows, columns;
    double at[MOST][MOST];
};

static int input(struct matrix *m)
{
    if (scanf("%d %d", &m->rows, &m->columns) != 2)
        return 0;
    if (m->rows < 1 || m->rows > MOST || m->columns < 1 || m->columns > MOST)
        return 0;
    for (int i = 0; i < m->rows; i++)
        for (int j = 0; j < m->columns; j++)
            if (scanf("%lf", &m->at[i][j]) != 1)
                return 0;
    return 1;
}

int main(void)
{
    struct matrix a, b;
    if (!input(&a) || !input(&b)) {
        fprintf(stderr, "bad matrix\n");
        return 1;
    }
    if (a.columns != b.rows) {
        fprintf(stderr, "sizes do not fit\n");
        return 1;
    }
    int is_zero = 1;
    for (int i = 0; i < a.rows; i++) {
        for (int j = 0; j < b.columns; j++) {
            double sum = 0;
            for (int k = 0; k < a.columns; k++)
                sum += a.at[i][k] * b.at[k][j];
            if (sum != 0)
                is_zero = 0;
            printf(j ? " %g" : "%g", sum);
        }
        putchar('\n');
    }
    if (is_zero)
        puts("(zero)");
    return 0;
}
