// run: --check enum => TRUE
// run: --check enum -DAT=EDGE => TRUE
// run: --check enum -DAT=BEYOND => FALSE(enum)
// Enumerations of C have all values of an integer type, if it is not given as one that has fewer (C23, clang's extension before).
#include "edge.h"

enum answer : _Bool { NO, YES };

int main(void) {
    unsigned char byte = between(0, at(0, 1, 2));
    enum answer answer = *(enum answer *)&byte; // wrong
    return answer == YES;
}
