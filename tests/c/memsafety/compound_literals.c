// The second literal is gone when it is read; clang does not say so, and no sanitizer sees it. That is no proof.
// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG => UNKNOWN
// run: --property valid-memsafety -DPASSED => UNKNOWN
// run: --property valid-memsafety -DOUTERMOST => TRUE
// run: --property valid-memsafety -DBRANCH => UNKNOWN
// run: --property valid-memsafety -DLOOP => UNKNOWN
// run: --property valid-memsafety -DONCE => UNKNOWN
// run: --property valid-memsafety -DCASE => UNKNOWN
// run: --property valid-memsafety -DCONDITION => UNKNOWN
#include "../verify.h"

struct point {
    int x, y;
};

struct point *kept;

static int sum(struct point *p) {
    kept = p;
    return p->x + p->y;
}

int main(void) {
    int total = (struct point){1, 2}.x + (int[]){3, 4}[__VERIFIER_nondet_int() & 1];
#ifdef BUG
    int *p;
    {
        p = (int[]){1, 2, 3};
    }
    total += p[1];
#endif
#ifdef PASSED
    {
        total += sum(&(struct point){1, 2});
    }
    total += kept->x;
#endif
    // In the outermost block it lives as long as the function.
#ifdef OUTERMOST
    if (total > 100)
        return 1;
    total += sum(&(struct point){total, 2});
    const struct point *q = total > 3 ? &(struct point){1, 2} : kept;
    for (int i = 0; i < 3; i++)
        total += kept->x == q->x;
#endif
    // Bodies and conditions are blocks, too, without braces as well.
    kept = &(struct point){5, 6};
#ifdef BRANCH
    if (total > 3)
        kept = &(struct point){1, 2};
    total += kept->x;
#endif
#ifdef LOOP
    while (total++ < 9)
        kept = &(struct point){1, 2};
    total += kept->x;
#endif
#ifdef ONCE
    do
        kept = &(struct point){1, 2};
    while (0);
    total += kept->x;
#endif
#ifdef CASE
    switch (total)
    case 5:
        kept = &(struct point){1, 2};
    total += kept->x;
#endif
#ifdef CONDITION
    switch (sum(&(struct point){total, 2})) {
    case 3:
        total++;
        break;
    default:;
    }
    total += kept->x;
#endif
    return total;
}
