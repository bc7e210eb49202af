// A vector that is initialised from a constant keeps the constant's other elements. (clang makes `{1, 2, x}` of a constant
// whose third element is undefined.)
#include "../verify.h"

typedef int four __attribute__((vector_size(16)));

int main(void) {
    int x = __VERIFIER_nondet_int();
    __VERIFIER_assume(x >= 0 && x <= 5);
    four v = {1, 2, x}, w = v * (four){3, x, 1};
    w[x & 1] += 5;
    int sum = w[0] + w[1] * 10 + w[2] * 100 + w[3];
    check(v[0] == 1 && v[1] == 2 && v[3] == 0);
    check(sum != 173 || x == 1);
    wrong(sum != 173);
    return 0;
}
