// run: => TRUE
// run: --check address -DBUG => FALSE(address)
// Elements of an array are null or point to objects. Any element may be written.
#include <stdio.h>

static int first, second[2];
static int *chosen[8];

int main(void) {
    int c;
    while ((c = getchar()) != EOF) {
        if (c & 128)
            chosen[c & 7] = &first;
        else
            chosen[c & 7] = &second[c & 1];
#ifdef BUG
        if (c == 77)
            chosen[c & 3] = &second[2];
#endif
        int *one = chosen[(c >> 3) & 7];
        if (one != NULL)
            *one = c; // wrong
    }
    return first;
}
