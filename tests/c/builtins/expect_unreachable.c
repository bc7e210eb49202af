#include "../verify.h"

static int f(int x) {
    if (__builtin_expect(x > 10, 0))
        return 1;
    if (x <= 10)
        return 0;
    __builtin_unreachable();
}

int main(void) {
    int x = __VERIFIER_nondet_int();
    check(f(x) == (x > 10));
    check(__builtin_constant_p(3));
    check(__builtin_object_size(&x, 0) == sizeof x);
    wrong(__builtin_expect_with_probability(x, 3, 0.9) != 3);
    return 0;
}
