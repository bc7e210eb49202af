// The rest of a list is lost if its last node is assumed to be its only one.
// run: --property valid-memsafety --analysis shape => TRUE
// run: --property valid-memsafety --analysis shape -DBUG => FALSE(valid-memtrack)
// run: --property valid-memcleanup --analysis shape => TRUE
// run: --property valid-memcleanup --analysis shape -DBUG => FALSE(valid-memcleanup)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next, *prev; };

int main(void) {
    struct node *last = 0;
    while (__VERIFIER_nondet_bool()) {
        struct node *n = malloc(sizeof *n); // wrong: a node that is lost
        n->prev = last;
        n->next = 0;
        if (last)
            last->next = n;
        last = n;
    }
#ifdef BUG
    if (last && last->prev && last->prev->prev)
        last->prev->prev = last->prev;
#endif
    while (last && last->prev != last) {
        struct node *n = last;
        last = n->prev;
        free(n);
    }
#ifdef BUG
    free(last);
#endif
    return 0;
}
