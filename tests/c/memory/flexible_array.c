#include "../verify.h"
#include <stdlib.h>

struct packet { unsigned len; unsigned char data[]; };

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() & 7;
    struct packet *p = malloc(sizeof *p + n);
    if (!p)
        return 0;
    p->len = n;
    for (unsigned i = 0; i < p->len; i++)
        p->data[i] = (unsigned char)(i + 1);
    unsigned sum = 0;
    for (unsigned i = 0; i < p->len; i++)
        sum += p->data[i];
    check(sum == n * (n + 1) / 2);
    wrong(sum != 21);
    free(p);
    return 0;
}
