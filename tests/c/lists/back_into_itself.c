// A list whose last node points back to its second: the end of a segment points to its start.
// run: --property unreach-call --analysis shape => FALSE(unreach-call)
// run: --property unreach-call => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next, *prev; };
static struct node *list[1];

static struct node *new(struct node *prev) {
    struct node *n = malloc(sizeof *n);
    n->next = 0;
    n->prev = prev;
    return n;
}

static struct node *extend(struct node *last) {
    last->next = new(last);
    return last->next;
}

static void build(void) {
    list[0] = new(0);
    struct node *last = extend(extend(extend(extend(list[0]))));
    while (__VERIFIER_nondet_int())
        last = extend(last);
    last->next = list[0]->next;
}

int main(void) {
    build();
    // As long as a variable points to the first node, only the others are a segment; then the first joins them.
    struct node *first = list[0];
    while (__VERIFIER_nondet_int())
        if (first->prev)
            return 0;
    while (__VERIFIER_nondet_int()) {}
    struct node *second = list[0]->next, *n = second->next;
    while (n != second)
        n = n->next;
    check(n == 0); // wrong
}
