#include "../verify.h"

static void each(int *a, unsigned n, void (*f)(int *, void *), void *arg) {
    for (unsigned i = 0; i < n; i++)
        f(&a[i], arg);
}
static void add_to(int *x, void *sum) { *(long *)sum += *x; }
static void scale(int *x, void *by) { *x *= *(int *)by; }

int main(void) {
    int a[3] = {1, 2, 3};
    int by = __VERIFIER_nondet_schar();
    long sum = 0;
    each(a, 3, scale, &by);
    each(a, 3, add_to, &sum);
    check(sum == 6l * by);
    wrong(sum != -42);
    return 0;
}
