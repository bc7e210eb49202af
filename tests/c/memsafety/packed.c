// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety -DBUG => FALSE(valid-memtrack)
// run: --property valid-memsafety --analysis random -DBUG => FALSE(valid-memtrack)
// A pointer need not be aligned, nor point to the start of its object.
#include "../verify.h"
#include <stdlib.h>

struct packed {
    char first;
    char *pointer;
} __attribute__((packed));

struct packed kept;

int main(void) {
    kept.pointer = malloc(4); // wrong
    kept.pointer += 2;
    for (int i = 0; i < 2; i++)
        kept.first++;
#ifdef BUG
    kept.pointer = 0;
    return 0;
#endif
    free(kept.pointer - 2);
    return 0;
}
