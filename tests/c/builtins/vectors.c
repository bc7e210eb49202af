#include "../verify.h"

typedef int v4 __attribute__((vector_size(16)));
typedef float f4 __attribute__((vector_size(16)));

int main(void) {
    v4 a = {1, 2, 3, 4}, b = {10, 20, 30, 40};
    a[2] = __VERIFIER_nondet_int();
    v4 c = a + b * 2;
    check(c[0] == 21 && c[3] == 84 && c[2] == (int)((unsigned)a[2] + 60u));
    v4 less = a < b;
    check(less[0] == -1 && less[2] == (a[2] < 30 ? -1 : 0));
    v4 s = __builtin_shufflevector(a, b, 3, 4, 0, 7);
    check(s[0] == 4 && s[1] == 10 && s[3] == 40);
    f4 f = {0.5f, 1.5f, 2.5f, 3.5f};
    f = f * f;
    check(f[1] == 2.25f);
    v4 i = __builtin_convertvector(f, v4);
    check(i[3] == 12);
    wrong(c[2] != 61);
    return 0;
}
