// The second literal is gone when it is read; clang does not say so, and no sanitizer sees it. That is no proof.
// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG => UNKNOWN
// run: --property valid-memsafety -DPASSED => UNKNOWN
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
    return total;
}
