// run: --check unreach-call => TRUE
// run: --check unreach-call -DAT=EDGE => TRUE
// run: --check unreach-call -DAT=BEYOND => FALSE(unreach-call)
#include "edge.h"

int main(void) {
    int n = between(0, at(50, 99, 100));
    check(n / 10 < 10); // wrong
}
