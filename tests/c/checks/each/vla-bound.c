// run: --check vla-bound => TRUE
// run: --check vla-bound -DAT=EDGE => TRUE
// run: --check vla-bound -DAT=BEYOND => FALSE(vla-bound)
#include "edge.h"

int main(void) {
    int n = between(at(3, 1, 0), 5);
    char text[n]; // wrong
    return sizeof text == 7;
}
