#include "../verify.h"

typedef int (*op)(int, int);
static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int mul(int a, int b) { return a * b; }
static const op table[] = {add, sub, mul};
struct vtable { op f; const char *name; };
static op choose(int n) { return n == 0 ? add : n == 1 ? &sub : *mul; }

int main(void) {
    signed char a = __VERIFIER_nondet_schar(), b = __VERIFIER_nondet_schar();
    unsigned i = __VERIFIER_nondet_uint() % 3;
    int r = table[i](a, b);
    check(r == choose((int)i)(a, b));
    struct vtable v = {table[i], "op"};
    check((*v.f)(a, b) == r);
    check(i != 0 || table[i] == add);
    check(add != sub);
    wrong(r != 77 || i != 2);
    return 0;
}
