#include "../verify.h"

int real(int x) { return x + 1; }
int other(int) __attribute__((alias("real")));
__attribute__((weak)) int optional(int x) { return x * 2; }
extern int missing(int) __attribute__((weak));
int cell = 7;
extern int same __attribute__((alias("cell")));

int main(void) {
    int x = __VERIFIER_nondet_schar();
    check(other(x) == x + 1);
    check(optional(x) == 2 * x);
    check(missing == 0);
    same = x;
    check(cell == x);
    wrong(cell != 99);
    return 0;
}
