// Reversal keeps the content of the list, and makes the last node the first.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
// run: --property valid-memsafety --analysis shape => TRUE
#include "../verify.h"
#include <stdlib.h>

struct node { unsigned char key; struct node *next; };

static struct node *push(struct node *list, int key) {
    struct node *n = malloc(sizeof *n);
    *n = (struct node){key, list};
    return n;
}

int main(void) {
    struct node *list = push(0, 9), *last = list;
    while (__VERIFIER_nondet_bool())
        list = push(list, 4);
    struct node *first = list;
    struct node *reversed = 0;
    while (list) {
        struct node *next = list->next;
        list->next = reversed;
        reversed = list;
        list = next;
    }
    check(reversed == last && reversed->key == 9);
    check(!first->next);
    for (struct node *n = reversed->next; n; n = n->next)
        check(n->key == 4);
    wrong(!reversed->next || !reversed->next->next || reversed->next->next != first);
    while (reversed) {
        struct node *next = reversed->next;
        free(reversed);
        reversed = next;
    }
    return 0;
}
