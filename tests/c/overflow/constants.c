// run: --property no-overflow => FALSE(no-overflow)
// run: --property no-overflow -DDEAD => TRUE
// clang folds constants, but not those that overflow.
#include "../verify.h"

int main(void) {
#ifdef DEAD
    if (0)
#endif
        return 2147483647 + 1; // wrong
    return 0;
}
