// Reads of the heap before it is written, and objects of any size: a harness sets content, and sizes that a machine supports.
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>

extern unsigned long __VERIFIER_nondet_ulong(void);

int main(void) {
    unsigned long n = __VERIFIER_nondet_ulong(), i = __VERIFIER_nondet_ulong();
    if (n < 8 || n > (1ul << 50) || i >= n)
        return 0;
    int *first = malloc(sizeof *first);
    unsigned char *bytes = malloc(n);
    printf("%lu\n", n);
    unsigned char copy = bytes[i];
    assert(bytes[i] == copy);
#ifdef BUG
    assert(*first != 12345 || copy != 'x'); // wrong
#endif
    free(first);
    free(bytes);
    return 0;
}
