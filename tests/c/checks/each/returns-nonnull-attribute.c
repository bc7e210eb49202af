// run: --check returns-nonnull-attribute => TRUE
// run: --check returns-nonnull-attribute -DAT=EDGE => TRUE
// run: --check returns-nonnull-attribute -DAT=BEYOND => FALSE(returns-nonnull-attribute)
#include "edge.h"

__attribute__((returns_nonnull)) static int *chosen(int *p, int i) {
    return i < 3 ? p : 0; // wrong
}

int main(void) {
    int n;
    return chosen(&n, between(0, at(1, 2, 3))) != 0;
}
