// run: --check memory => TRUE
// run: --check memory -DBUG=1 => FALSE(memory)
// run: --check memory -DBUG=2 => FALSE(memory)
// run: --check memory -DBUG=3 => FALSE(memory)
// run: --check memory -DBUG=4 => FALSE(memory)
// run: --check memory -DBUG=5 => FALSE(memory)
// run: --check memory -DBUG=6 => FALSE(memory)
// run: --check memory -DBUG=7 => FALSE(memory)
// run: --check memory -DBUG=8 => FALSE(memory)
// run: --check memory -DBUG=9 => FALSE(memory)
// Arrays, variables that pointers point to, and the heap.
#include "../../verify.h"
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

static void set(int *p, int given) {
    if (given)
        *p = given;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 0 || n > 6)
        return 0;

    int a[6];
    for (int i = 0; i < n; i++)
        a[i] = i;
    for (int i = 0; i < n + (BUG == 1); i++)
        if (i < 6 && a[i] == 7) // wrong
            return 0;

    int out;
    set(&out, BUG == 2 ? n : 1);
    if (out == 3) // wrong
        return 0;

    int *fresh = malloc(2 * sizeof *fresh);
    int *zero = calloc(2, sizeof *zero);
    fresh[0] = 1;
    if (fresh[BUG == 3] == zero[1]) // wrong
        return 0;

    int *grown = realloc(fresh, 4 * sizeof *grown);
    if (grown[BUG == 4 ? 2 : 0] != 1) // wrong
        return 0;

    int from[2], to[2];
    from[1] = 1;
    memcpy(to, from, sizeof to);
    if (to[BUG != 5] != 1) // wrong
        return 0;
    memmove(&from[0], &from[1], sizeof from[0]);
    if (from[0] != 1)
        return 0;
    int set_to[2];
    memset(set_to, 0, BUG == 6 ? sizeof set_to[0] : sizeof set_to);
    if (set_to[1]) // wrong
        return 0;

    for (int i = 0; i < 2; i++) {
        int own[2];
        if (i == 0 || BUG != 7)
            own[1] = 3;
        if (own[1] == 2) // wrong
            return 0;
    }

    int **pointers = malloc(2 * sizeof *pointers);
    pointers[0] = zero;
    if (n == 3)
        *pointers[BUG == 8] = 1; // wrong

    char length[n + 1];
    length[0] = 1;
    if (length[BUG == 9 ? n : 0] == 2) // wrong
        return 0;

    free(grown);
    free(zero);
    free(pointers);
    return 0;
}
