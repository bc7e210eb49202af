#include "../verify.h"
#include <stdarg.h>

struct small { int a, b; };
struct large { long a[4]; };

static long f(int n, ...) {
    va_list ap;
    va_start(ap, n);
    struct small s = va_arg(ap, struct small);
    struct large l = va_arg(ap, struct large);
    char *p = va_arg(ap, char *);
    va_end(ap);
    return s.a + s.b + l.a[3] + *p;
}
static long forward(int n, ...) {
    va_list ap;
    va_start(ap, n);
    long r = va_arg(ap, long);
    va_end(ap);
    return r + n;
}

int main(void) {
    int x = __VERIFIER_nondet_schar();
    char c = 5;
    struct small s = {x, 2};
    struct large l = {{1, 2, 3, 4}};
    check(f(3, s, l, &c) == x + 11);
    check(forward(1, 41l) == 42);
    wrong(f(3, s, l, &c) != 0);
    return 0;
}
