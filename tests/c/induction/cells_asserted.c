// run: --analysis invariants => TRUE
// run: --analysis invariants -DBUG -DN=30 => FALSE(unreach-call)
// run: -DBUG -DN=30 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 10000
#endif

/* What the error says of cells is tried at the loop that writes them: a relation that is no other candidate. */
struct Pair {
    int first, second;
};

int main(void) {
    static struct Pair pairs[N];
    for (int i = 0; i < N; i++) {
        int x = __VERIFIER_nondet_int();
        pairs[i].first = x;
        pairs[i].second = ~x;
#ifdef BUG
        if (i == 20)
            pairs[i].second = x;
#endif
    }
    for (int i = 0; i < N; i++)
        check((pairs[i].first ^ pairs[i].second) == -1); // wrong
    return 0;
}
