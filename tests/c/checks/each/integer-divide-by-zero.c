// run: --check integer-divide-by-zero => TRUE
// run: --check integer-divide-by-zero -DAT=EDGE => TRUE
// run: --check integer-divide-by-zero -DAT=BEYOND => FALSE(integer-divide-by-zero)
#include "edge.h"

int main(void) {
    int all = between(0, 100), parts = between(at(2, 1, 0), 10);
    return all / parts == 3; // wrong
}
