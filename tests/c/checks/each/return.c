// run: --check return => TRUE
// run: --check return -DAT=EDGE => TRUE
// run: --check return -DAT=BEYOND => FALSE(return)
// native: c++
// In C it is the use of the result that is undefined, not the end: on the edge a function ends without one, and nobody uses it.
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
