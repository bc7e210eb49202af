// run: --check return => TRUE
// run: --check return -DAT=EDGE => TRUE
// run: --check return -DAT=BEYOND => FALSE(return)
// native: c++
// In C, the use of the result is undefined, not the end of the function. On the edge, a function returns no value, and the result is unused.
#include "edge.h"

static int sign(int n) {
    if (n >= 0)
        return n > 0;
    if (at(1, 0, 0))
        return -1;
}

int main(void) {
    int n = between(-3, 3), s = 0;
    if (n >= 0 || AT != EDGE)
        s = sign(n); // wrong
    else
        sign(n);
    return s == 2;
}
