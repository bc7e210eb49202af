// Sums of consecutive numbers are not unrolled, nor are functions called in each iteration. A loop up to the greatest number
// does not end.
// run: --property unreach-call => TRUE
// run: --property unreach-call -DFAULT=1 => FALSE(unreach-call)
// run: --property unreach-call -DFAULT=2 => FALSE(unreach-call)
// run: --property unreach-call -DFAULT=3 => FALSE(unreach-call)
#include "../verify.h"
#ifndef FAULT
#define FAULT 0
#endif

static unsigned after_next(unsigned n) {
    unsigned two = 2;
    return n + two;
}

static void by_function(void) {
    unsigned x = 0;
    while (x < 0x00ffffff)
        x = after_next(x);
    check(x == 0x01000000 - (FAULT == 1));  // wrong with a fault
}

static void sum(unsigned short n) {
    unsigned total = 0, last = 0;
    for (unsigned i = 0; i <= n; i++) {
        total += i;
        last = i;
    }
    check(last == n);
    if (n == 60000)
        check(total == 60000u * 60001u / 2 + (FAULT == 2));  // wrong with a fault
}

// No number exceeds the greatest one.
static void without_end(unsigned char n) {
    unsigned char i;
    for (i = 100; i <= n; i++)
        ;
    check(n != 255);
    check(i == 100 || i == n + 1);
    check(FAULT != 3 || i < 250);  // wrong with a fault
}

int main(void) {
    by_function();
    sum(__VERIFIER_nondet_ushort());
    without_end(__VERIFIER_nondet_uchar());
    return 0;
}
