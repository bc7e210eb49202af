// run: --check leak => TRUE
// run: --check leak -DAT=EDGE => TRUE
// run: --check leak -DAT=BEYOND => FALSE(leak)
#include "edge.h"
#include <stdlib.h>

static char *kept;

int main(void) {
    char *p = malloc(8); // wrong
    if (!p)
        return 0;
    int how = between(0, at(0, 1, 2));
    if (how == 0)
        free(p);
    // At the end, a pointer into the object is sufficient, even if it does not point to its start.
    if (how == 1)
        kept = p + 3;
    p = 0;
    return 0; // wrong
}
