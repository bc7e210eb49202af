// run: --check address => FALSE(address)
// run: --check address -DSTORED => FALSE(address)
// run: --check address -DPRINTED => FALSE(address)
// run: --check address -DCONVERTED => FALSE(address)
// run: --check address -DWITHIN => TRUE
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct link {
    int *target;
};

static int x, cells[4], *target = &x;

/* A distance between two variables leads from the one to the other, also if an address in it is a constant. */
int main(void) {
    int a[2] = {0, 0}, *q = cells;
    struct link link = {target};
#if defined(STORED)
    static long distance;
    distance = (char *)link.target - (char *)cells;
#elif defined(PRINTED)
    char text[40];
    sprintf(text, "%ld", (long)((char *)&x - (char *)cells));
    long distance = strtol(text, 0, 10);
#elif defined(CONVERTED)
    uintptr_t start = (uintptr_t)cells;
    long distance = (long)((uintptr_t)link.target - start);
#elif defined(WITHIN)
    long distance = (char *)&cells[2] - (char *)cells;
#else
    long distance = (char *)target - (char *)cells;
#endif
    q = (int *)((char *)q + distance);
    *q = 1;
    a[x + 1] = 1; // wrong
    return a[0] + (link.target == q);
}
