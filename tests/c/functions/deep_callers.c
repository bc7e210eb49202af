// Values of callers are dropped and refined at every depth of a recursion.
// run: --analysis value => TRUE
// run: --analysis value -DBUG => FALSE(unreach-call)
// run: --analysis symex-cegar => TRUE
// run: --analysis symex-cegar -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <assert.h>

#ifdef BUG
#define SPECIAL 13
#else
#define SPECIAL 99
#endif

static int count(int n, int mark) {
    int own = n == SPECIAL ? mark + 1 : mark;
    if (n <= 0)
        return 0;
    int below = count(n - 1, mark);
    assert(own == mark || below != n - 1); // wrong
    return below + 1;
}

int main(void) {
    int n = __VERIFIER_nondet_int() > 0 ? 12 : 17;
    return count(n, 3) != n;
}
