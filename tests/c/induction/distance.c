// native: no
// run: --analysis invariants --property unreach-call => TRUE
// run: --analysis invariants --property unreach-call -DDOWN => TRUE
// run: --property unreach-call -DBUG => FALSE(unreach-call)
// run: --property valid-deref -DTWO => TRUE
// run: --property unreach-call -DTWO => TRUE
// run: --property unreach-call -DTWO -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>

/* The invariant relates the offsets of pointers in their object to a counter. */
int main(void) {
    unsigned long n = __VERIFIER_nondet_ulong();
    if (n < 2 || n > 1000)
        return 0;
    int *a = malloc(n * sizeof(int)), *p = a;
    unsigned count = 0;
#ifdef TWO
    for (int *end = a + n - 1; p < end; p++, end--, count++) {
        int first = *p;
        *p = *end;
        *end = first;
    }
    n /= 2;
#elif defined DOWN
    for (p = a + n; p != a; count++)
        *--p = 1;
#else
    while (p < a + n) {
        *p++ = 1;
        count++;
    }
#endif
#ifdef BUG
    check(count < 300); // wrong
#else
    check(count == n);
#endif
    return 0;
}
