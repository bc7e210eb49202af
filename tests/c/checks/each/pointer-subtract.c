// run: --check pointer-subtract => TRUE
// run: --check pointer-subtract -DAT=EDGE => TRUE
// run: --check pointer-subtract -DAT=BEYOND => FALSE(pointer-subtract)
#include "edge.h"

int main(void) {
    int numbers[4] = {0}, others[4] = {0};
    int *places[] = {numbers + 2, numbers + 4, others};
    int i = between(0, at(0, 1, 2));
    return places[i] - numbers == 3; // wrong
}
