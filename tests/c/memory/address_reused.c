// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --analysis symex-cegar-slicing -DBUG => FALSE(unreach-call)
// run: --analysis invariants -DBUG => FALSE(unreach-call)
// run: -DBUG -DTURNS => FALSE(unreach-call)
#include "../verify.h"

extern void *malloc(unsigned long);
extern void free(void *);

/* An object may have the address of an object that was freed before. */
int main(void) {
#ifdef TURNS
    unsigned long old = 0;
    int reused = 0;
    for (int i = 0; i < 2; i++) {
        char *p = malloc(16);
        if ((unsigned long)p == old)
            reused = 1;
        old = (unsigned long)p;
        free(p);
    }
    wrong(!reused); // wrong
#else
    int *p = malloc(8), *kept = malloc(8);
    unsigned long address = (unsigned long)p;
    free(p);
    int *q = malloc(8);
    check(q != kept);
    wrong((unsigned long)q != address); // wrong
#endif
    return 0;
}
