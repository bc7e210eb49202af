#include "../verify.h"
#include <stdlib.h>

struct cell { int value; struct cell *next; };

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() & 3;
    struct cell *list = 0;
    for (unsigned i = 0; i < n; i++) {
        struct cell *c = malloc(sizeof *c);
        if (!c)
            abort();
        c->value = (int)i;
        c->next = list;
        list = c;
    }
    int sum = 0;
    while (list) {
        struct cell *next = list->next;
        sum += list->value;
        free(list);
        list = next;
    }
    check(sum == (int)(n * (n - 1) / 2));
    wrong(sum != 3);
    return 0;
}
