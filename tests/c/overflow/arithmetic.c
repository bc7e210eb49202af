// run: --property no-overflow => TRUE
// run: --property no-overflow --32 => TRUE
// run: --property no-overflow -DBUG=1 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=2 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=3 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=4 --32 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=5 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=6 => FALSE(no-overflow)
// run: --property no-overflow -DBUG=7 => FALSE(no-overflow)
// Each operation at the last value for which its result fits, and at the next.
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif
#define MAX 2147483647
#define MIN (-MAX - 1)

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    long l = __VERIFIER_nondet_long();
    int sum = x <= MAX - 7 - (BUG != 1 ? 0 : -1) ? x + 7 : 0; // wrong
    int difference = x >= MIN + 3 - (BUG == 2) ? x - 3 : 0;   // wrong
    int product = 0;
    if (x >= -46340 && x <= 46340 + (BUG == 3))
        product = x * x; // wrong
    if (sizeof l > 4 || BUG == 4 || l < MAX)
        l = l == (long)(~0ul >> 1) && BUG != 4 ? l : l + 1; // wrong
    int negated = x != MIN || BUG == 5 ? -x : 0; // wrong
    int quotient = y != 0 && (y != -1 || x != MIN || BUG == 6) ? x / y : 0; // wrong
    int rest = y != 0 && (y != -1 || x != MIN || BUG == 7) ? x % y : 0;     // wrong
    return sum ^ difference ^ product ^ negated ^ quotient ^ rest;
}
