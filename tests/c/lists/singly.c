// A singly linked list of any length: facts about all nodes, and about those before a mark.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
// run: --property valid-memsafety --analysis shape => TRUE
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next; int key; };

static struct node *push(struct node *list, int key) {
    struct node *n = malloc(sizeof *n);
    n->next = list;
    n->key = key;
    return n;
}

int main(void) {
    struct node *list = 0;
    while (__VERIFIER_nondet_bool())
        list = push(list, 1);
    list = push(list, 2);
    while (__VERIFIER_nondet_bool())
        list = push(list, 3);
    struct node *n = list;
    for (; n->key == 3; n = n->next)
        ;
    check(n->key == 2);
    for (n = n->next; n; n = n->next)
        check(n->key == 1);
    int length = 0;
    for (n = list; n && length < 3; n = n->next)
        length++;
    wrong(length != 2);
    while (list) {
        n = list->next;
        free(list);
        list = n;
    }
    return 0;
}
