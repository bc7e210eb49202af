// A pointer to the middle, in memory whose address is taken, splits the list; the part before it is rewritten.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next; int key; };

static void find(struct node *list, struct node **found) {
    *found = list;
    while ((*found)->next && __VERIFIER_nondet_bool())
        *found = (*found)->next;
}

int main(void) {
    struct node *list = 0;
    do {
        struct node *n = malloc(sizeof *n);
        n->next = list;
        n->key = 0;
        list = n;
    } while (__VERIFIER_nondet_bool());
    struct node *middle;
    find(list, &middle);
    for (struct node *n = list; n != middle; n = n->next)
        n->key = 1;
    int met = 0;
    for (struct node *n = list; n; n = n->next) {
        if (n == middle)
            met = 1;
        check(n->key == !met);
    }
    check(met);
    wrong(list->next != middle || middle->next);
    return 0;
}
