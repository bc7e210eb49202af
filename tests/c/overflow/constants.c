// run: --property no-overflow => FALSE(no-overflow)
// run: --property no-overflow -DDEAD => TRUE
// run: --property no-overflow -DBITS=31 => FALSE(no-overflow)
// run: --property no-overflow -DBITS=30 => TRUE
// run: --check shift -DBITS=32 => FALSE(shift)
// run: --property no-overflow -DBITS=40 => FALSE(no-overflow)
// run: --property no-overflow -DRIGHT=40 => TRUE
// clang folds constants, except those that overflow. For a shift whose result does not fit, it generates only the check.
#include "../verify.h"

int main(void) {
#ifdef BITS
    return (1 << BITS) == 0; // wrong
#endif
#ifdef RIGHT
    // Undefined, but no overflow.
    return (1 >> RIGHT) & 0;
#endif
#ifdef DEAD
    if (0)
#endif
        return 2147483647 + 1; // wrong
    return 0;
}
