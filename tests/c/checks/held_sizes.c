// The pre-analysis must not use the least size of an object as its size, nor the content of one element of a table as that of
// another.
// run: --check integer-divide-by-zero => FALSE(integer-divide-by-zero)
// run: --check integer-divide-by-zero -DZEROED => FALSE(integer-divide-by-zero)
// run: --check integer-divide-by-zero -DTABLE => FALSE(integer-divide-by-zero)
// run: --check integer-divide-by-zero -DRIGHT => TRUE
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

int table[4] = {1, 1, 1, 1};

int main(void) {
    unsigned n = __VERIFIER_nondet_uint(), i = __VERIFIER_nondet_uint();
#ifdef TABLE
    int element;
    if (n) {
        memset(table, 0, sizeof table);
        element = table[i & 3];
    } else {
        element = table[i & 3];
    }
    return 10 / (1 - element); // wrong
#else
    if (n < 4 || n > 100)
        return 0;
#ifdef ZEROED
    char *p = calloc(n, 1);
    if (!p)
        return 0;
    if (n >= 12)
        p[8] = 1;
    int result = i < n ? 10 / (1 - p[i]) : 0; // wrong
#else
    char *p = malloc(n);
    if (!p)
        return 0;
    for (unsigned k = 0; k < n; k++)
        p[k] = 1;
    memset(p, 0, 4);
#ifdef RIGHT
    int result = 10 / (1 - p[i & 3]);
#else
    int result = n >= 12 ? 10 / (1 - p[8]) : 0; // wrong
#endif
#endif
    free(p);
    return result;
#endif
}
