// run: --check pointer-compare => TRUE
// run: --check pointer-compare -DAT=EDGE => TRUE
// run: --check pointer-compare -DAT=BEYOND => FALSE(pointer-compare)
#include "edge.h"

int main(void) {
    int numbers[4] = {0}, others[4] = {0};
    int *places[] = {numbers + 2, numbers + 4, others};
    int i = between(0, at(0, 1, 2));
    return numbers < places[i]; // wrong
}
