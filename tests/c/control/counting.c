// Loops that only count are not unrolled, whatever their number of iterations: upwards, downwards, beyond the greatest number,
// nested, counted before the test.
// run: --property unreach-call => TRUE
// run: --property unreach-call --32 => TRUE
// run: --property unreach-call -DFAULT=1 => FALSE(unreach-call)
// run: --property unreach-call -DFAULT=2 => FALSE(unreach-call)
// run: --property unreach-call -DFAULT=3 => FALSE(unreach-call)
// run: --property unreach-call -DFAULT=4 => FALSE(unreach-call)
// run: --property unreach-call -DFAULT=5 => FALSE(unreach-call)
#include "../verify.h"
#ifndef FAULT
#define FAULT 0
#endif

unsigned total;

static void around(void) {
    // 230, 430, ... past 2^32 to 134.
    unsigned x = 230;
    while (x >= 200)
        x += 200;
    check(x == 134 + (FAULT == 1));  // wrong with a fault
}

static void up_and_down(unsigned n) {
    unsigned i, thrice = 0;
    unsigned char small = 0;
    long sum = 7;
    for (i = 0; i < n; i++) {
        thrice += 3;
        small--;
        sum -= 2;
    }
    check(i == n && thrice == 3 * n);
    check((unsigned char)(small + n) == 0);
    if (n > 10000000u && n < 10001000u)
        check(FAULT != 2 || small != 17);  // wrong with a fault
    for (i = n; i > 0; i--)
        total++;
    check(total == n);
}

static void in_one_another(short n, short m) {
    long k = 0;
    __VERIFIER_assume(n >= 10 && m >= 10);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++)
            k++;
    check(k >= 100 + (FAULT == 3));  // wrong with a fault
}

static void by_more(void) {
    int i = -50000000, turns = 0;
    do {
        i += 7;
        turns++;
    } while (i < 50000000);
    check(i - 50000000 < 7 - (FAULT == 4) * 6);  // wrong with a fault
    check(turns == 14285715);
    int last = 0;
    for (i = 0; i != 10000000; i++)
        last = 5;
    check(last == 5 && i == 10000000 - (FAULT == 5));  // wrong with a fault
}

int main(void) {
    around();
    up_and_down(__VERIFIER_nondet_uint());
    in_one_another(__VERIFIER_nondet_short(), __VERIFIER_nondet_short());
    by_more();
    return 0;
}
