// Loops and recursions that copy uninitialised values, even if invariants replace them: whether a value is
// initialised is part of the state that they may change.
// run: --check memory --analysis invariants -DSTRUCT => FALSE(memory)
// run: --check memory --analysis k-induction -DSTRUCT => FALSE(memory)
// run: --check memory -DSTRUCT => FALSE(memory)
// run: --check memory --analysis invariants -DRECURSION => FALSE(memory)
// run: --check memory --analysis invariants -DARRAY => FALSE(memory)
// run: --check memory -DHOLDS => TRUE
#include "../../verify.h"

struct pair { int x, y; };

static void fill(struct pair *to, const struct pair *from, int n) {
    if (n <= 0)
        return;
    *to = *from;
    fill(to, from, n - 1);
}

int main(void) {
    int n = __VERIFIER_nondet_int();
#if defined STRUCT || defined HOLDS
    struct pair from, to = {0, 0};
    from.x = 1;
#ifdef HOLDS
    from.y = 2;
#endif
    for (int i = 0; i < n; i++)
        to = from;
    if (to.y) // wrong
        return 1;
#elif defined RECURSION
    struct pair from, to = {0, 0};
    from.x = 1;
    fill(&to, &from, n);
    if (to.y) // wrong
        return 1;
#else
    int from[2], to[2] = {0, 0};
    for (int i = 0; i < n; i++)
        to[1] = from[1];
    if (to[1]) // wrong
        return 1;
#endif
    return 0;
}
