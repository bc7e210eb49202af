// An object may start where another one ends (C17 6.5.9p6), depending on the layout. Programs must be right in both cases.
// run: --property unreach-call => FALSE(unreach-call)
// run: --property unreach-call -DOTHERWISE => FALSE(unreach-call)
// run: --property unreach-call --data-model ILP32 => FALSE(unreach-call)
// run: --property unreach-call --data-model ILP32 -DOTHERWISE => FALSE(unreach-call)
// run: --property unreach-call -DOF_GLOBALS => FALSE(unreach-call)
// run: --property unreach-call -DOF_GLOBALS -DOTHERWISE => FALSE(unreach-call)
// run: --property unreach-call -DOF_GLOBALS --data-model ILP32 => FALSE(unreach-call)
// run: --property unreach-call -DOF_HEAP => FALSE(unreach-call)
// run: --property unreach-call -DOF_HEAP -DOTHERWISE => FALSE(unreach-call)
// run: --property unreach-call -DOF_HEAP --data-model ILP32 => FALSE(unreach-call)
// run: --property unreach-call -DINSIDE => TRUE
// native: unseen
#include "../verify.h"
#include <stdlib.h>

#ifdef OF_GLOBALS
static int first[4], second[4];
#endif

int main(void) {
#ifdef OF_HEAP
    int *first = malloc(4 * sizeof(int)), *second = malloc(4 * sizeof(int));
#elif !defined(OF_GLOBALS)
    int first[4] = {0}, second[4] = {0};
#endif
    int *end = first + 4;
#ifdef INSIDE
    // An address that is no end is not the address of another object.
    end--;
#endif
#ifdef OTHERWISE
    if (end != second)
#else
    if (end == second)
#endif
        reach_error(); // wrong
    return 0;
}
