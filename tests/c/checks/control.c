// run: --check unreachable,vla-bound,builtin => TRUE
// run: --check unreachable -DBUG=1 => FALSE(unreachable)
// run: --check vla-bound -DBUG=2 => FALSE(vla-bound)
// run: --check builtin -DBUG=3 => FALSE(builtin)
// run: --check bool -DBUG=4 => FALSE(bool)
// run: --check bool => TRUE
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif

static int kind(int x) {
    switch (x) {
    case 0:
        return 1;
    case 1:
        return 2;
    }
    __builtin_unreachable(); // wrong
}

int main(void) {
    int x = __VERIFIER_nondet_int();
    __VERIFIER_assume(x >= 0 && x <= 1 + (BUG == 1));
    int sum = kind(x);
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 1 - (BUG == 2) && n < 5);
    char text[n]; // wrong
    text[0] = 1;
    sum += __builtin_clz(BUG == 3 ? x : x + 1); // wrong
    unsigned char byte = x + (BUG == 4);
    _Bool truth = *(_Bool *)&byte; // wrong
    return sum + text[0] + truth;
}
