// run: --check address => FALSE(address)
// Memory that is read before it is written is an input, whatever a sanitizer fills it with.
#include <stdlib.h>

int main(void) {
    int a[4] = {0};
    int *p = malloc(8);
    if (p[1] == 7)
        a[p[1]] = 1; // wrong
    free(p);
    return a[0];
}
