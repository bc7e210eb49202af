// A circular list, traversed once and freed.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
// run: --property valid-memsafety --analysis shape => TRUE
// run: --property valid-memsafety --analysis shape -DTWICE => FALSE(valid-free)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next; char is_first; };

static struct node *node(int is_first) {
    struct node *n = malloc(sizeof *n);
    n->is_first = is_first;
    return n;
}

int main(void) {
    struct node *first = node(1);
    first->next = first;
    while (__VERIFIER_nondet_bool()) {
        struct node *n = node(0);
        n->next = first->next;
        first->next = n;
    }
    struct node *n = first->next;
    for (; !n->is_first; n = n->next)
        check(n != first);
    check(n == first);
    wrong(first->next == first || first->next->next != first);
    n = first->next;
    while (n != first) {
        struct node *next = n->next;
        free(n);
        n = next;
    }
#ifdef TWICE
    n = first->next;
#endif
    free(n); // wrong: the second time
    return 0;
}
