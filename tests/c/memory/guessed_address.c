// run: => TRUE
// run: --slicing off => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DBUG --analysis predicate => FALSE(unreach-call)
// run: -DASSUMED => TRUE
// run: -DBUG -DASSUMED => FALSE(unreach-call)
// run: -DBUG -DPOINTER => FALSE(unreach-call)
// run: -DLOST => UNKNOWN
// native: unseen
#include "../verify.h"

extern unsigned long __VERIFIER_nondet_ulong(void);
extern void *__VERIFIER_nondet_pointer(void);

static int x = 5, y = 6;

/* A number that is the address of a variable leads to it once the program has made a number of the address. */
int main(void) {
#ifdef POINTER
    int *p = __VERIFIER_nondet_pointer();
#else
    unsigned long guess = __VERIFIER_nondet_ulong();
    int *p = (int *)guess;
#endif
#if defined(LOST)
    /* Any object whose address is known. */
    *p = 3;
    check(p != &x || x == 3);
#elif defined(ASSUMED)
    __VERIFIER_assume(guess == (unsigned long)&x);
    *p = 3;
    check(x == 3 && y == 6);
#else
    if (p != &x && p != &y)
        return 0;
    *p = 3;
    check(x == 3 && y == 6 || x == 5 && y == 3);
#endif
    wrong(x == 5);
    return 0;
}
