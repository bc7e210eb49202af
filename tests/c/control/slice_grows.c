// The executed part grows with the slice: a state that passed `copy = value` before that was in the slice does not know `copy`.
// run: --slicing off --search bfs --analysis symex-slicing => FALSE(unreach-call)
// run: --slicing off --search bfs --analysis symex-cegar-slicing => FALSE(unreach-call)
// run: --slicing off --search bfs --analysis symex-slicing -DRIGHT => TRUE
// run: --slicing off --search bfs --analysis symex-cegar-slicing-location -DRIGHT => TRUE
#include "../verify.h"

#define SKIP if (__VERIFIER_nondet_int()) {}

int copy;

int main(void) {
    int value;
    unsigned n = __VERIFIER_nondet_uint();
    if (__VERIFIER_nondet_int())
        value = 0;
    else
        value = 5;
    copy = value;
    if (value != 0) {
        // Found first, so that the value is in the slice before its copy is. The product is even.
        if (n * (n + 1) & 1)
            reach_error();
        SKIP SKIP SKIP SKIP SKIP SKIP
    }
    SKIP SKIP
#ifdef RIGHT
    if (copy != value)
        reach_error();
#else
    if (copy != 0)
        reach_error(); // wrong
#endif
    return 0;
}
