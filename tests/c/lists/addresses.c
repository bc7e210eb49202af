// What a path assumes of the address of one node is not assumed of the next one in its place.
// run: --property unreach-call --analysis shape => FALSE
// run: --property unreach-call => FALSE
#include "../verify.h"
#include <stdint.h>
#include <stdlib.h>

struct node { struct node *next; };

int main(void) {
    struct node *n = malloc(sizeof *n);
    if (((uintptr_t)n & 16) == 0)
        return 0;
    free(n);
    struct node *list = 0;
    while (__VERIFIER_nondet_bool()) {
        if (list && ((uintptr_t)list & 16) == 0)
            reach_error();
        n = malloc(sizeof *n);
        n->next = list;
        list = n;
    }
    return 0;
}
