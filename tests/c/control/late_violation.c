// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --analysis random => UNKNOWN
// run: --analysis random -DBUG => FALSE(unreach-call)
#include "../verify.h"
#define N 50000

/* The violation comes after many iterations of loops over unknown cells. */
int main(void) {
    int from[N], positive[N], n = 0;
    for (int i = 0; i < N; i++) {
        from[i] = __VERIFIER_nondet_int();
        if (from[i] > 0)
            positive[n++] = from[i];
    }
#ifdef BUG
    for (int i = 0; i <= n && i < N; i++) {
        if (i == n)
            positive[i] = from[0] - from[0];
        check(positive[i] > 0); // wrong
    }
#else
    for (int i = 0; i < n; i++)
        check(positive[i] > 0);
#endif
    return 0;
}
