// run: => TRUE
// run: --analysis symex-merging => TRUE
// run: -DBUG => UNKNOWN
// run: --slicing off -DWRITE => UNKNOWN
#include "../verify.h"

struct node {
    int value;
    struct node *next;
};

extern void *malloc(unsigned long);

/* A read through an uninitialised pointer returns any value, but it changes nothing. */
int main(void) {
    struct node *n = malloc(sizeof *n);
    int *kept = malloc(sizeof *kept), seen = 0;
    *kept = 1;
    if (__VERIFIER_nondet_bool())
        seen = n->next->value;
#ifdef WRITE
    n->next->value = 2;
#endif
#ifdef BUG
    check(seen == 0); // wrong
#endif
    check(*kept == 1 && (seen == 0 || *kept + seen == seen + 1));
    return 0;
}
