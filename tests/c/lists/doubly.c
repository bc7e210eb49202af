// Backward links match the forward links; a node in the middle is removed.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
// run: --property valid-memsafety --analysis shape => TRUE
#include "../verify.h"
#include <stdlib.h>

struct node { short key; struct node *next, *prev; };

int main(void) {
    struct node *list = 0;
    while (__VERIFIER_nondet_bool()) {
        struct node *n = malloc(sizeof *n);
        n->key = 7;
        n->next = list;
        n->prev = 0;
        if (list)
            list->prev = n;
        list = n;
    }
    struct node *d = list;
    while (d && d->next && __VERIFIER_nondet_bool())
        d = d->next;
    if (d) {
        if (d->prev)
            d->prev->next = d->next;
        else
            list = d->next;
        if (d->next)
            d->next->prev = d->prev;
        free(d);
    }
    int length = 0;
    for (struct node *n = list; n; n = n->next) {
        check(n->key == 7);
        check(n->prev ? n->prev->next == n : n == list);
        check(!n->next || n->next->prev == n);
        length += length < 3;
    }
    wrong(length != 2);
    while (list) {
        struct node *n = list->next;
        free(list);
        list = n;
    }
    return 0;
}
