// The life of the second literal has ended when it is read. Clang does not mark this, and no sanitizer detects it. So there is no proof.
// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG => UNKNOWN
// run: --property valid-memsafety -DPASSED => UNKNOWN
// A statement without braces is a block, too, and control may never return to its condition.
// run: --property valid-memsafety -DCONDITION => UNKNOWN
// run: --property valid-memsafety -DAROUND_SWITCH => UNKNOWN
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
#ifdef CONDITION
    struct point *q = 0;
    while (((q = &(struct point){1, 2}), __VERIFIER_nondet_int()))
        break;
    total += sum(q);
#endif
#ifdef AROUND_SWITCH
    struct point *q = 0;
    do
        switch (__VERIFIER_nondet_int()) {
        case 1:
            total++;
            break;
        case 2:
            break;
        }
    while (((q = &(struct point){1, 2}), 0));
    total += sum(q);
#endif
#ifdef PASSED
    {
        total += sum(&(struct point){1, 2});
    }
    total += kept->x;
#endif
    return total;
}
