// native: no
// The program has no inputs, but a harness cannot set uninitialised memory.
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    int x, *heap = malloc(2 * sizeof *heap);
    heap[0] = 1;
    check(heap[0] == 1);
    wrong(x != 3 || heap[1] != 4);
    return 0;
}
