// run: --check unsigned-integer-overflow => TRUE
// run: --check unsigned-integer-overflow -DAT=EDGE => TRUE
// run: --check unsigned-integer-overflow -DAT=BEYOND => FALSE(unsigned-integer-overflow)
#include "edge.h"

int main(void) {
    unsigned have = between(7, 100), want = between(0, at(3, 7, 8));
    unsigned left = have - want; // wrong
    return left == 3;
}
