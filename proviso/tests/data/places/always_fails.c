// The first access always violates its alignment, and the second one sometimes does.
#include <stdlib.h>

struct first {
    long x;
} __attribute__((aligned(16)));

struct second {
    long x;
} __attribute__((aligned(32)));

extern int value(void);

int main(void) {
    char *bytes = malloc(64);
    ((struct first *)(bytes + 8))->x = 1;
    if (value() == 3)
        ((struct second *)(bytes + 8))->x = 1;
    free(bytes);
    return 0;
}
