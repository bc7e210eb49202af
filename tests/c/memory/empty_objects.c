// run: --property unreach-call -DPART=1 => UNKNOWN
// run: --property unreach-call -DPART=2 => UNKNOWN
// run: --property unreach-call -DPART=3 => UNKNOWN
// run: --property unreach-call -DPART=0 => TRUE
//
// An empty object may have the address of another one: clang gives two empty globals one address. An empty object of the
// heap has its own.

#include <stdlib.h>

#include "../verify.h"

static struct {
} first, second;
static int none[0], number;

static int same(void *p, void *q) { return p == q; }

int main(void) {
#if PART == 1
    assert(!same(&first, &second));
#elif PART == 2
    assert(!same(none, &number));
#elif PART == 3
    unsigned size = __VERIFIER_nondet_uint() % 2;
    char *p = __builtin_alloca(size), *q = __builtin_alloca(size);
    assert(p != q);
#else
    char *p = malloc(0), *q = malloc(0);
    assert(p != q && p != (char *)&number && !same(&number, &p));
    free(p);
    free(q);
#endif
}
