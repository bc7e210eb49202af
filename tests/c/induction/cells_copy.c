// run: => TRUE
// run: -DBUG -DN=30 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 200000
#endif

struct pair {
    int first;
    short second;
};

static struct pair from[N];
static short to[N];

/* The cells of one row are members of structures, those of the other are not; both rows are written. */
int main(void) {
    unsigned n = __VERIFIER_nondet_uint();
    if (n > N)
        return 0;
    for (unsigned i = 0; i < n; i++) {
        from[i].first = (int)i;
        from[i].second = (short)__VERIFIER_nondet_short();
    }
    for (unsigned i = 0; i < n; i++)
        to[i] = from[i].second;
#ifdef BUG
    if (n > 20)
        to[n / 2]++;
#endif
    for (unsigned i = 0; i < n; i++)
        check(to[i] == from[i].second); // wrong
    return 0;
}
