// run: --check builtin => TRUE
// run: --check builtin -DAT=EDGE => TRUE
// run: --check builtin -DAT=BEYOND => FALSE(builtin)
#include "edge.h"

int main(void) {
    unsigned n = between(at(8, 1, 0), 1000);
    return __builtin_ctz(n) == 3; // wrong
}
