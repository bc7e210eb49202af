// Two sorted lists, merged by their links; nodes are copied whole.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

struct node { int key; struct node *next; };

static struct node *list(int key) {
    struct node *l = 0;
    while (__VERIFIER_nondet_bool()) {
        struct node *n = malloc(sizeof *n);
        *n = (struct node){key, l};
        l = n;
    }
    return l;
}

int main(void) {
    struct node *a = list(1), *b = list(2), *all = 0, **at = &all;
    while (a || b) {
        struct node **from = a ? &a : &b;
        struct node *n = *from;
        *from = n->next;
        struct node *copy = malloc(sizeof *copy);
        memcpy(copy, n, sizeof *n);
        free(n);
        copy->next = 0;
        *at = copy;
        at = &copy->next;
    }
    int key = 1;
    for (struct node *n = all; n; n = n->next) {
        check(n->key >= key);
        key = n->key;
    }
    wrong(!all || all->key != 1 || key != 2);
    return 0;
}
