#include "../verify.h"
#include <stdarg.h>

static long sum(int n, ...) {
    va_list ap;
    long r = 0;
    va_start(ap, n);
    for (int i = 0; i < n; i++)
        r += va_arg(ap, int);
    va_end(ap);
    return r;
}
static double mixed(const char *kinds, ...) {
    va_list ap, again;
    double r = 0;
    va_start(ap, kinds);
    va_copy(again, ap);
    for (; *kinds; kinds++)
        r += *kinds == 'i' ? va_arg(ap, int) : *kinds == 'l' ? (double)va_arg(ap, long) : va_arg(ap, double);
    r += va_arg(again, int);
    va_end(again);
    va_end(ap);
    return r;
}

int main(void) {
    int x = __VERIFIER_nondet_schar();
    check(sum(0) == 0 && sum(3, 1, 2, x) == x + 3);
    check(sum(10, 1, 2, 3, 4, 5, 6, 7, 8, 9, x) == 45 + x);
    check(mixed("idl", 1, 2.5, 3l) == 7.5);
    wrong(sum(2, x, x) != -20);
    return 0;
}
