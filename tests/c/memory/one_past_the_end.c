// The end of an object may be where another one starts (C17 6.5.9p6): the layout decides, and programs must be right with either.
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
    // What is no end is at no other object's address.
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
