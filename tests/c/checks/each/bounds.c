// run: --check bounds => TRUE
// run: --check bounds -DAT=EDGE => TRUE
// run: --check bounds -DAT=BEYOND => FALSE(bounds)
#include "edge.h"

int main(void) {
    int numbers[4] = {1, 2, 3, 4}, i = between(0, at(2, 3, 4));
    return numbers[i] == 3; // wrong
}
