#include "../verify.h"

static int counter(void) {
    static int n = 5;
    return n++;
}

int main(void) {
    check(counter() == 5);
    check(counter() == 6);
    unsigned times = __VERIFIER_nondet_uchar() & 7;
    for (unsigned i = 0; i < times; i++)
        counter();
    int n = counter();
    check(n >= 7 && n <= 14);
    wrong(n != 12);
    return 0;
}
