// run: --check address,leak,null,bounds => TRUE
// run: --check bounds -DBUG=1 => FALSE(bounds)
// run: --check address -DBUG=2 => FALSE(address)
// run: --check null -DBUG=3 => FALSE(null)
// run: --check address -DBUG=3 => FALSE(address)
// run: --check address -DBUG=4 => FALSE(address)
// run: --check address -DBUG=5 => FALSE(address)
// run: --check leak -DBUG=6 => FALSE(leak)
// run: --check leak -DBUG=1 => TRUE
// run: --check address,null,bounds -DBUG=6 => TRUE
#include "../verify.h"
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

struct pair {
    int second[4], first;
};

static int use(struct pair *p, unsigned i) {
    return p->second[i]; // wrong
}

int main(void) {
    unsigned i = __VERIFIER_nondet_uint();
    __VERIFIER_assume(i < 4 + (BUG == 1));
    struct pair local = {{2, 3, 4, 5}, 1};
    int n = BUG == 1 ? use(&local, i) : 0;
    struct pair *p = malloc(sizeof *p); // wrong
    if (!p)
        return 0;
    char *bytes = (char *)p;
    bytes[i + (BUG == 2) * 17] = 1; // wrong
    int *where = i == 3 && BUG == 3 ? 0 : &n;
    *where = 4; // wrong
    if (BUG == 5 && i == 2)
        free(p);
    if (BUG != 6 || i != 1)
        free(p); // wrong
    if (BUG == 4 && i == 2)
        n = p->first; // wrong
    p = 0;
    return n; // wrong
}
