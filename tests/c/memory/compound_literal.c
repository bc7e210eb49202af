#include "../verify.h"

struct pair { int a, b; };
static int add(const struct pair *p) { return p->a + p->b; }
static int first(const int *p) { return p[0]; }

int main(void) {
    signed char n = __VERIFIER_nondet_schar();
    check(add(&(struct pair){n, 1}) == n + 1);
    check(first((int[]){n, 2, 3}) == n);
    struct pair *p = &(struct pair){.b = n};
    p->a = 2;
    wrong(add(p) != 100);
    return 0;
}
