// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* The invariant contains `from`, which the loop does not read, although paths fork and join in it. */
int main(void) {
    int size = __VERIFIER_nondet_int(), from = __VERIFIER_nondet_int(), count = __VERIFIER_nondet_int();
    if (size <= 0 || size > 1000 || from <= 0 || from > size || count <= 0 || count > 1000) return 0;
    int total = size;
    size -= from;
    if (size < 3 * count) return 0;
    int at = from;
    for (int i = 0; i < count && size > 1; i++) {
#ifdef BUG
        check(at + 3 < total); // wrong
#else
        check(at + 2 < total);
#endif
        at += 3;
    }
    return 0;
}
