#include "../verify.h"

static void swap(int *a, int *b) {
    int t = *a;
    *a = *b;
    *b = t;
}

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    int x0 = x, y0 = y;
    swap(&x, &y);
    check(x == y0 && y == x0);
    int *p = __VERIFIER_nondet_bool() ? &x : &y;
    *p = 5;
    check(x == 5 || y == 5);
    int **pp = &p;
    **pp = 6;
    check(*p == 6);
    wrong(x != 6 || y != 77);
    return 0;
}
