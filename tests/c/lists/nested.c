// run: --analysis shape --property valid-memsafety -DCASE=1 => TRUE
// run: --analysis shape --property valid-memsafety -DCASE=2 => FALSE(valid-memtrack)
// run: --analysis shape --property valid-memsafety -DCASE=3 => FALSE(valid-deref)
// run: --analysis shape --property unreach-call -DCASE=4 => FALSE(unreach-call)
// run: --analysis shape --property unreach-call -DCASE=5 => TRUE
// A list of lists, each inner node with its own buffer: a node is folded together with the objects that belong to it.
#include "../verify.h"
#include <stdlib.h>

struct inner {
    char *buffer;
    struct inner *next;
};
struct outer {
    struct outer *next;
    struct inner *first;
    int *shared;
};

static void add(struct inner **list) {
    struct inner *n = malloc(sizeof *n);
    n->buffer = malloc(16); // wrong: lost in case 2
    n->buffer[0] = 1;
    n->next = *list;
    *list = n;
}

static void release(struct inner *list) {
    while (list) {
        struct inner *next = list->next;
#if CASE != 2
        free(list->buffer);
#endif
#if CASE == 3
        list->buffer[0] = 2; // wrong
#endif
        free(list);
        list = next;
    }
}

int main(void) {
    struct outer *list = 0;
    int *count = malloc(sizeof *count);
    *count = 0;
    do {
        struct outer *o = malloc(sizeof *o);
        o->first = 0;
        o->shared = count;
        do
            add(&o->first);
        while (__VERIFIER_nondet_int());
        o->next = list;
        list = o;
    } while (__VERIFIER_nondet_int());
    count = 0;
#if CASE >= 4
    // Now only nodes point to it, and all to the same one.
    *list->shared = 1;
    if (list->next && list->next->next)
        check(*list->next->next->shared == (CASE == 5)); // wrong in case 4
#endif
    count = list->shared;
    while (list) {
        struct outer *next = list->next;
        release(list->first);
        free(list);
        list = next;
    }
    free(count);
}
