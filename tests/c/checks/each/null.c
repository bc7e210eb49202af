// run: --check null => TRUE
// run: --check null -DAT=EDGE => TRUE
// run: --check null -DAT=BEYOND => FALSE(null)
#include "edge.h"

int main(void) {
    int n = 1;
    int *p = between(0, at(1, 2, 3)) < 3 ? &n : 0;
    return *p; // wrong
}
