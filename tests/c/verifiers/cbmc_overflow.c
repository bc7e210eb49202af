// CBMC's functions that test whether an operation overflows, compared with wider arithmetic.
#include "../verify.h"

int main(void) {
    int a = __VERIFIER_nondet_int(), b = __VERIFIER_nondet_int();
    unsigned u = __VERIFIER_nondet_uint(), v = __VERIFIER_nondet_uint();
    signed char c = __VERIFIER_nondet_char();
    long x = a, y = b;
    check(__CPROVER_overflow_plus(a, b) == ((int)(x + y) != x + y));
    check(__CPROVER_overflow_minus(a, b) == ((int)(x - y) != x - y));
    check(__CPROVER_overflow_unary_minus(a) == (a == -2147483647 - 1));
    check(__CPROVER_overflow_plus(u, v) == (u + v < u));
    check(__CPROVER_overflow_minus(u, v) == (u < v));
    // The usual conversions come first: `a` is converted to unsigned, `c` to int.
    check(__CPROVER_overflow_plus(a, v) == ((unsigned)a + v < v));
    check(!__CPROVER_overflow_plus(c, c) && !__CPROVER_overflow_mult(c, c));
    check(__CPROVER_overflow_mult(65536, 32768) && !__CPROVER_overflow_mult(65536, 32767));
    check(__CPROVER_overflow_mult(65536u, 65536u) && !__CPROVER_overflow_mult(65536u, 65535u));
    check(__CPROVER_overflow_shl(1, 31) && !__CPROVER_overflow_shl(1, 30) && !__CPROVER_overflow_shl(-1, 31));
    check(__CPROVER_overflow_shl(1, 40) && !__CPROVER_overflow_shl(0, 40) && !__CPROVER_overflow_shl(5, -1));
    check(!__CPROVER_overflow_shl(1u, 31) && __CPROVER_overflow_shl(2u, 31));
    wrong(!__CPROVER_overflow_plus(a, b));
    return 0;
}
