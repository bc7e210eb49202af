// run: --property no-overflow => TRUE
// run: --property no-overflow -DBUG => FALSE(no-overflow)
// The sum of a thousand such numbers fits: a proof needs the value of the sum.
#include "../verify.h"

#ifdef BUG
#define MOST 1001
#else
#define MOST 1000
#endif

int main(void) {
    int n = __VERIFIER_nondet_int(), sum = 0;
    if (n < 0 || n > MOST)
        return 0;
    for (int i = 0; i < n; i++)
        sum += 2147483; // wrong
    return sum > 0;
}
