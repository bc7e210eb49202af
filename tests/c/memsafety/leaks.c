// run: --property valid-memsafety => TRUE
// run: --property valid-memcleanup => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-memtrack)
// run: --property valid-memsafety -DBUG=2 => FALSE(valid-memtrack)
// run: --property valid-memsafety -DGLOBAL => TRUE
// run: --property valid-memcleanup -DGLOBAL => FALSE(valid-memcleanup)
// run: --property valid-memcleanup -DABORT => FALSE(valid-memcleanup)
// run: --property valid-memsafety -DABORT => TRUE
// run: --property valid-memsafety -DFOR_EVER => FALSE(valid-memtrack)
// run: --property valid-memsafety -DFOR_EVER --analysis value-slicing => FALSE(valid-memtrack)
// A list whose last pointer is overwritten, one of whose elements is skipped, and one that is kept to the end.
#include "../verify.h"
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

struct node {
    int value;
    struct node *next;
};

struct node *global;

int main(void) {
    struct node *head = 0;
    for (int i = 0; i < 3; i++) {
        struct node *n = malloc(sizeof *n); // wrong
        n->value = i;
        n->next = head;
        head = n;
    }
#ifdef GLOBAL
    global = head;
    return 0;
#endif
    int skipped = __VERIFIER_nondet_int();
    while (head) {
        struct node *next = head->next;
        if (BUG == 1 && skipped == head->value && next)
            next = next->next;
        free(head);
        head = next;
    }
    char *p = malloc(1); // wrong
    if (skipped == 77 && BUG == 2)
        p = 0;
#ifdef ABORT
    if (skipped == 5)
        abort();
#endif
    free(p);
#ifdef FOR_EVER
    p = malloc(1); // wrong
    p = 0;
    for (;;)
        ;
#endif
    return 0;
}
