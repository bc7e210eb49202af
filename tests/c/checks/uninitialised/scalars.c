// run: --check memory => TRUE
// run: --check memory -DBUG=1 => FALSE(memory)
// run: --check memory -DBUG=2 => FALSE(memory)
// run: --check memory -DBUG=3 => FALSE(memory)
// run: --check memory -DBUG=4 => FALSE(memory)
// run: --check memory -DBUG=5 => FALSE(memory)
// run: --check memory -DBUG=6 => FALSE(memory)
// run: --check memory -DBUG=7 => FALSE(memory)
// run: --check memory -DBUG=8 => FALSE(memory)
// run: --check memory -DBUG=9 => FALSE(memory)
// run: --check memory -DBUG=10 => FALSE(memory)
// run: --check memory -DBUG=11 => FALSE(memory)
// run: --check memory -DBUG=12 => FALSE(memory)
// run: --check memory -DBUG=13 => FALSE(memory)
// run: --check memory -DBUG=14 => FALSE(memory)
// run: --check memory -DBUG=15 => FALSE(memory)
// Variables whose addresses are not taken: set on some paths only, new in each iteration of a loop, copied, and used in every way.
#include "../../verify.h"

#ifndef BUG
#define BUG 0
#endif

static int twice(int x) { return 2 * x; }
static int one(void) { return 1; }

static int chosen(int which) {
    int result;
    if (which > 0)
        result = 1;
    else if (which < (BUG == 1 ? 0 : 1))
        result = -1;
    return result;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (chosen(n) == 1) // wrong
        n = 2;

    // Copying is not a use.
    int never, copy;
    if (BUG != 2)
        never = n;
    copy = never;
    if (copy > 3) // wrong
        n = 3;

    // A removed bit does not matter, however it is removed; a remaining one does.
    unsigned some;
    some = (some & ~15u) | 5;
    if ((some & (BUG == 3 ? 31 : 15)) == 5) // wrong
        n = 4;
    unsigned high = some << (BUG == 4 ? 27 : 28);
    if (high > 5u << 28) // wrong
        n = 5;
    unsigned sum = (some & 15) + (BUG == 5 ? some & 16 : 16);
    if (sum > 20) // wrong
        n = 6;

    // Each iteration of a loop has its own variable.
    for (int i = 0; i < 3; i++) {
        int own;
        if (i == 0 || BUG != 6)
            own = i;
        if (own == 1) // wrong
            n = 7;
    }

    switch (__VERIFIER_nondet_int()) {
        int skipped;
    case 1:
        skipped = 1;
        // fall through
    case 2:
        if (BUG != 7)
            skipped = 2;
        switch (skipped) { // wrong
        case 1:
            n = 8;
        }
    }

    int divisor, index, (*callee)(void), argument;
    if (BUG != 8)
        divisor = 3;
    n = n / divisor; // wrong
    if (BUG != 9)
        index = 1;
    static const int table[4] = {1, 2, 3, 4};
    n = table[index & 3]; // wrong
    if (BUG != 10)
        callee = one;
    n = callee(); // wrong
    if (BUG != 11)
        argument = 4;
    n = twice(argument); // wrong

    int difference;
    if (BUG != 12)
        difference = n;
    if (difference - difference) // wrong
        n = 9;

    // Neither a copy nor a result that does not depend on the value makes it initialised.
    int source;
    unsigned remainder;
    if (BUG != 13)
        source = n;
    if (BUG < 14)
        remainder = n;
    int other = source;
    if (other - other) // wrong
        n = 10;
    if (BUG == 14 && remainder % 4 >= 4) // wrong
        n = 11;
    if (BUG == 15 && remainder % 1) // wrong
        n = 12;
    return 0;
}
