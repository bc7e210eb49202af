// run: --check nonnull-attribute => TRUE
// run: --check nonnull-attribute -DAT=EDGE => TRUE
// run: --check nonnull-attribute -DAT=BEYOND => FALSE(nonnull-attribute)
#include "edge.h"

__attribute__((nonnull)) static int is_null(int *p) { return p == 0; }

int main(void) {
    int n;
    int *p = between(0, at(1, 2, 3)) < 3 ? &n : 0;
    return is_null(p); // wrong
}
