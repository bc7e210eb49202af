// run: --check alignment => TRUE
// run: --check alignment -DAT=EDGE => TRUE
// run: --check alignment -DAT=BEYOND => FALSE(alignment)
#include "edge.h"

int main(void) {
    int numbers[4] = {1, 2, 3, 4};
    char *bytes = (char *)numbers;
    int i = between(0, at(0, 3, 6));
    int *p = (int *)(bytes + i * at(4, 4, 2));
    return *p == 3; // wrong
}
