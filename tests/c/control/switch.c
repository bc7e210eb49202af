// Fall-through, default in the middle, ranges, sparse and negative labels.
#include "../verify.h"

static int f(int x) {
    int r = 0;
    switch (x) {
    case 1:
        r += 1;
    case 2:
        r += 2;
        break;
    default:
        r = 100;
        break;
    case -5:
        r = 5;
        break;
    case 1000 ... 1010:
        r = 6;
    case 2147483647:
        r += 7;
    }
    return r;
}

int main(void) {
    int x = __VERIFIER_nondet_int();
    int r = f(x);
    check(f(1) == 3 && f(2) == 2 && f(-5) == 5 && f(1005) == 13 && f(2147483647) == 7);
    check(r == 100 || x == 1 || x == 2 || x == -5 || (x >= 1000 && x <= 1010) || x == 2147483647);
    wrong(r != 13 || x != 1007);
    return 0;
}
