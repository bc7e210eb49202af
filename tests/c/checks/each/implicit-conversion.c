// run: --check implicit-conversion => TRUE
// run: --check implicit-conversion -DAT=EDGE => TRUE
// run: --check implicit-conversion -DAT=BEYOND => FALSE(implicit-conversion)
#include "edge.h"

int main(void) {
    int n = between(0, at(100, 127, 128));
    signed char c = n; // wrong
    return c == 7;
}
