// Lists as in Linux: heads in nodes, circular, with a head outside of nodes; nodes move from one list to another.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
// run: --property valid-memsafety --analysis shape => TRUE
#include "../verify.h"
#include <stddef.h>
#include <stdlib.h>

struct head { struct head *next, *prev; };
struct node { long key; struct head link; };
#define node_of(h) ((struct node *)((char *)(h) - offsetof(struct node, link)))

static struct head waiting = {&waiting, &waiting}, done = {&done, &done};

static void add_last(struct head *list, struct head *h) {
    h->prev = list->prev;
    h->next = list;
    list->prev->next = h;
    list->prev = h;
}
static void take_out(struct head *h) {
    h->prev->next = h->next;
    h->next->prev = h->prev;
}

int main(void) {
    while (__VERIFIER_nondet_bool()) {
        struct node *n = malloc(sizeof *n);
        n->key = 1;
        add_last(&waiting, &n->link);
    }
    while (waiting.next != &waiting && __VERIFIER_nondet_bool()) {
        struct head *h = waiting.next;
        take_out(h);
        node_of(h)->key = 2;
        add_last(&done, h);
    }
    for (struct head *h = waiting.next; h != &waiting; h = h->next)
        check(node_of(h)->key == 1);
    for (struct head *h = done.next; h != &done; h = h->next)
        check(node_of(h)->key == 2);
    wrong(waiting.next == &waiting || done.next == &done || done.next->next == &done || waiting.prev != waiting.next);
    while (done.next != &done) {
        struct head *h = done.next;
        take_out(h);
        free(node_of(h));
    }
    while (waiting.prev != &waiting) {
        struct head *h = waiting.prev;
        take_out(h);
        free(node_of(h));
    }
    return 0;
}
