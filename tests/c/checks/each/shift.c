// run: --check shift => TRUE
// run: --check shift -DAT=EDGE => TRUE
// run: --check shift -DAT=BEYOND => FALSE(shift)
#include "edge.h"

int main(void) {
    int by = between(0, at(8, 30, 31));
    return 1 << by == 4; // wrong
}
