// run: --check bool => TRUE
// run: --check bool -DAT=EDGE => TRUE
// run: --check bool -DAT=BEYOND => FALSE(bool)
#include "edge.h"

int main(void) {
    unsigned char byte = between(0, at(0, 1, 2));
    _Bool truth = *(_Bool *)&byte; // wrong
    return truth;
}
