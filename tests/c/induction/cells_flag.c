// run: => TRUE
// run: -DBUG -DN=30 => FALSE(unreach-call)
#include "../verify.h"
#ifndef N
#define N 100000
#endif

/* All cells are equal only if a flag is still set. */
int main(void) {
    char a[N], b[N];
    int equal = 1;
    for (int i = 0; i < N; i++) {
        a[i] = __VERIFIER_nondet_char();
        b[i] = __VERIFIER_nondet_char();
    }
    for (int i = 0; i < N; i++) {
#ifdef BUG
        if (a[i] != b[i] && a[i] != 'x')
#else
        if (a[i] != b[i])
#endif
            equal = 0;
    }
    if (equal)
        for (int i = 0; i < N; i++)
            check(a[i] == b[i]); // wrong
    return 0;
}
