// A node is used after a loop has freed it: the last one, or any.
// run: --property valid-memsafety --analysis shape => TRUE
// run: --property valid-memsafety --analysis shape -DBUG => FALSE(valid-deref)
// run: --property valid-memsafety --analysis shape -DTWICE => FALSE(valid-free)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next; int key; };

int main(void) {
    struct node *list = 0, *kept = 0;
    while (__VERIFIER_nondet_bool()) {
        struct node *n = malloc(sizeof *n);
        n->next = list;
        n->key = 0;
        if (__VERIFIER_nondet_bool())
            kept = n;
        list = n;
    }
    while (list) {
        struct node *n = list;
        list = n->next;
        if (n != kept)
            free(n);
#ifdef BUG
        else if (list && list->next)
            free(n);
#endif
    }
    if (kept) {
        kept->key++; // wrong
        free(kept); // wrong, the second time
    }
#ifdef TWICE
    if (kept && kept != list)
        free(kept); // wrong, the second time
#endif
    return 0;
}
