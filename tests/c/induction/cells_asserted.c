// run: --analysis invariants => TRUE
// run: --analysis invariants -DBUG -DN=30 => FALSE(unreach-call)
// run: -DBUG -DN=30 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 10000
#endif

/* The condition of the error is a candidate at the loop that writes the cells. No other candidate expresses this relation. */
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
