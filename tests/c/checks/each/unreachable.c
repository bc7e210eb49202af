// run: --check unreachable => TRUE
// run: --check unreachable -DAT=EDGE => TRUE
// run: --check unreachable -DAT=BEYOND => FALSE(unreachable)
#include "edge.h"

int main(void) {
    switch (between(0, at(1, 2, 3))) {
    case 0:
        return 1;
    case 1:
        return 2;
    case 2:
        return 3;
    }
    __builtin_unreachable(); // wrong
}
