// run: --check signed-integer-overflow,unsigned-integer-overflow,shift,integer-divide-by-zero,implicit-conversion => TRUE
// run: --check signed-integer-overflow -DBUG=1 => FALSE(signed-integer-overflow)
// run: --check unsigned-integer-overflow -DBUG=2 => FALSE(unsigned-integer-overflow)
// run: --check shift -DBUG=3 => FALSE(shift)
// run: --check shift -DBUG=4 => FALSE(shift)
// run: --check shift -DBUG=5 => FALSE(shift)
// run: --check integer-divide-by-zero -DBUG=6 => FALSE(integer-divide-by-zero)
// run: --check integer-divide-by-zero -DBUG=7 => FALSE(integer-divide-by-zero)
// run: --check implicit-conversion -DBUG=8 => FALSE(implicit-conversion)
// run: --check implicit-conversion -DBUG=9 => FALSE(implicit-conversion)
// run: --check signed-integer-overflow,shift,integer-divide-by-zero -DBUG=2 => TRUE
// run: --check signed-integer-overflow,shift,integer-divide-by-zero -DBUG=8 => TRUE
// Each check, at the last value for which it holds, and at the next.
#include "../verify.h"

#ifndef BUG
#define BUG 0
#endif
#define MAX 2147483647

int main(void) {
    int x = __VERIFIER_nondet_int();
    unsigned u = __VERIFIER_nondet_uint();
    int sum = x < MAX || BUG == 1 ? x + 1 : 0;           // wrong
    unsigned difference = u >= 2 - (BUG == 2) ? u - 2 : 0; // wrong
    int by = __VERIFIER_nondet_int();
    int far = by >= -(BUG == 5) && by < 32 + (BUG == 3) ? 1 >> by : 0;               // wrong
    int left = x >= 0 && x <= 536870911 + (BUG == 4) ? x << 2 : 0;   // wrong
    int quotient = by > 0 || by < 0 - (BUG == 6 ? -1 : 0) ? x / (by < -1 || by > -1 ? by : 2) : 0; // wrong
    unsigned rest = u % (BUG == 7 ? u & 3 : (u & 3) + 1);                            // wrong
    unsigned char byte = x >= 0 && x <= 255 + (BUG == 8) ? x : 0; // wrong
    unsigned sign = x >= 0 - (BUG == 9) ? x : 0;                  // wrong
    return sum == 5 && difference == 3 && far == 0 && left == 8 && quotient == 1 && rest == byte && sign == 1;
}
