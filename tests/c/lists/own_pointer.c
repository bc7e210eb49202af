// Each node points to itself, or to the first node of the list.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *self, *next, *first; };

int main(void) {
    struct node *first = malloc(sizeof *first);
    first->self = first->first = first;
    first->next = 0;
    struct node *last = first;
    while (__VERIFIER_nondet_bool()) {
        struct node *n = malloc(sizeof *n);
        n->self = n;
        n->first = first;
        n->next = 0;
        last->next = n;
        last = n;
    }
    int others = 0;
    for (struct node *n = first; n; n = n->next) {
        check(n->self == n);
        check(n->first == first);
        check(n->next || n == last);
        others += n != n->first && others < 3;
    }
    wrong(others != 2);
    return 0;
}
