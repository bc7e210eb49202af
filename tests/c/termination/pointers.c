// Pointers follow their accesses: they do not reach the end of the address space.
// run: --property termination => TRUE
// run: --property termination -DSTAYS => FALSE(termination)
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);

static int length(const char *s) {
    const char *p = s;
    while (*p) { // wrong
#ifndef STAYS
        p++;
#endif
    }
    return (int)(p - s);
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 1000)
        return 0;
    char *s = malloc(n);
    for (int i = 0; i < n - 1; i++)
        s[i] = 'a';
    s[n - 1] = 0;
    return length(s);
}
