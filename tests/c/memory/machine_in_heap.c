// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --analysis predicate => TRUE
// run: --analysis predicate -DBUG => FALSE(unreach-call)
// run: --analysis value-predicate => TRUE
// run: --analysis predicate --blocks calls => TRUE
// run: --analysis predicate --predicates cartesian => TRUE
// run: --analysis predicate --blocks calls --predicates cartesian -DBUG => FALSE(unreach-call)
// Predicates about memory: a relation between two members of an object in every iteration.
#include "../verify.h"
#include <stdlib.h>

struct bucket {
    int mode;
    unsigned level, limit;
};

int main(void) {
    struct bucket *b = malloc(sizeof *b);
    if (!b)
        return 0;
    b->limit = __VERIFIER_nondet_uint();
    b->level = 0;
    b->mode = 0;
    while (__VERIFIER_nondet_bool()) {
        if (b->mode == 0) {
#ifdef BUG
            if (b->level <= b->limit)
#else
            if (b->level < b->limit)
#endif
                b->level++;
            b->mode = 1;
        } else {
            b->mode = 0;
        }
        check(b->level <= b->limit); // wrong
    }
    free(b);
    return 0;
}
