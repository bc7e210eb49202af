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
    // 30, 50, ... past 2^32 to 14.
    unsigned x = 30;
    while (x >= 20)
        x += 20;
    check(x == 14 + (FAULT == 1));  // wrong with a fault
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
    if (n > 100000000u && n < 100001000u)
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
    int i = -500000000, turns = 0;
    do {
        i += 7;
        turns++;
    } while (i < 500000000);
    check(i - 500000000 < 7 - (FAULT == 4) * 6);  // wrong with a fault
    check(turns == 142857143);
    int last = 0;
    for (i = 0; i != 100000000; i++)
        last = 5;
    check(last == 5 && i == 100000000 - (FAULT == 5));  // wrong with a fault
}

int main(void) {
    around();
    up_and_down(__VERIFIER_nondet_uint());
    in_one_another(__VERIFIER_nondet_short(), __VERIFIER_nondet_short());
    by_more();
    return 0;
}
