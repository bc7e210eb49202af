// run: --check enum => TRUE
// run: --check enum -DAT=EDGE => TRUE
// run: --check enum -DAT=BEYOND => FALSE(enum)
// An enumeration of C has all values of its integer type, unless its fixed type has fewer (C23, before that an extension of clang).
#include "edge.h"

enum answer : _Bool { NO, YES };

int main(void) {
    unsigned char byte = between(0, at(0, 1, 2));
    enum answer answer = *(enum answer *)&byte; // wrong
    return answer == YES;
}
