// The decreasing value is in memory.
// run: --property termination => TRUE
// run: --property termination -DBUG => FALSE(termination)
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
struct pair {
    int low, high;
};

int main(void) {
    struct pair *p = malloc(sizeof *p);
    p->low = __VERIFIER_nondet_int();
    p->high = __VERIFIER_nondet_int();
    while (p->low < p->high) { // wrong
        if (__VERIFIER_nondet_int())
            p->low++;
#ifndef BUG
        else
            p->high--;
#endif
    }
    return 0;
}
