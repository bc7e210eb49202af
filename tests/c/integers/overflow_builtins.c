#include "../verify.h"

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int(), r;
    unsigned char c;
    if (!__builtin_add_overflow(a, b, &r))
        check((long)r == (long)a + b);
    if (!__builtin_sub_overflow(a, b, &r))
        check((long)r == (long)a - b);
    if (__builtin_mul_overflow((signed char)a, (signed char)b, &c))
        check((signed char)a * (signed char)b > 255 || (signed char)a * (signed char)b < 0);
    wrong(!__builtin_add_overflow(a, b, &r) || a != 2000000000);
    return 0;
}
