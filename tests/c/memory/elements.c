// run: => TRUE
// run: --check address -DCOUNT=17u => FALSE(address)
// run: --check bounds -DCOUNT=17u => FALSE(bounds)
// Elements of an array are indices of another one. Any element may be written.
#include <stdio.h>
#ifndef COUNT
#define COUNT 16u
#endif

static unsigned char follower[16];
static int visits[16];

int main(void) {
    int c, at = 0;
    while ((c = getchar()) != EOF) {
        follower[c & 15] = (unsigned char)((follower[at] + c) % COUNT);
        at = follower[(c >> 4) & 15];
        if (visits[at] < 1000) // wrong
            visits[at]++;
    }
    return 0;
}
