// A queue with two ends.
// run: --property unreach-call --analysis shape => TRUE
// run: --property unreach-call --analysis shape -DBUG => FALSE(unreach-call)
// run: --property valid-memsafety --analysis shape => TRUE
// run: --property valid-memsafety --analysis shape -DSTALE => FALSE(valid-deref)
#include "../verify.h"
#include <stdlib.h>

struct node { struct node *next; int key; };
static struct { struct node *first, *last; } queue;

static void put(int key) {
    struct node *n = malloc(sizeof *n);
    n->key = key;
    n->next = 0;
    if (queue.last)
        queue.last->next = n; // wrong if the last node was freed
    else
        queue.first = n;
    queue.last = n;
}
static int get(void) {
    struct node *n = queue.first;
    int key = n->key;
    queue.first = n->next;
#ifndef STALE
    if (!queue.first)
        queue.last = 0;
#endif
    free(n);
    return key;
}

int main(void) {
    while (__VERIFIER_nondet_bool())
        put(5);
    wrong(!queue.first || queue.first == queue.last || queue.first->next != queue.last);
    while (queue.first && __VERIFIER_nondet_bool())
        check(get() == 5);
    put(6);
    check(queue.last->key == 6 && !queue.last->next);
    int key = 0;
    while (queue.first) {
        check(key != 6);
        key = get();
    }
    check(key == 6);
    return 0;
}
