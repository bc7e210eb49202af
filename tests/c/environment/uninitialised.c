// native: no
// Nothing is needed from outside, but no harness can give what is not initialised.
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    int x, *heap = malloc(2 * sizeof *heap);
    heap[0] = 1;
    check(heap[0] == 1);
    wrong(x != 3 || heap[1] != 4);
    return 0;
}
