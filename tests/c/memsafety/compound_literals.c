// The second literal is gone when it is read; clang does not say so, and no sanitizer sees it. That is no proof.
// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG => UNKNOWN
#include "../verify.h"

struct point {
    int x, y;
};

static int sum(struct point *p) {
    return p->x + p->y;
}

int main(void) {
    int total = sum(&(struct point){1, 2});
#ifdef BUG
    int *p;
    {
        p = (int[]){1, 2, 3};
    }
    total += p[1];
#endif
    return total;
}
