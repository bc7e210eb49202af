// run: --check pointer-overflow => TRUE
// run: --check pointer-overflow -DAT=EDGE => TRUE
// run: --check pointer-overflow -DAT=BEYOND => FALSE(pointer-overflow)
#include "edge.h"
#include <stdint.h>

int main(void) {
    char bytes[8];
    // The distance to the end of the address space.
    uintptr_t rest = UINTPTR_MAX - (uintptr_t)bytes;
    char *far = bytes + (between(0, 1) ? at(8, rest, rest + 1) : 0); // wrong
    return far == bytes;
}
