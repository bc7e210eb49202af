// CBMC's functions about pointers and objects.
#include <stdlib.h>
#include "../verify.h"

char global[6];
const int constant = 7;

static int *dangling(void) {
    int local = 0;
    int *p = &local;
    check(__CPROVER_rw_ok(p));
    return p;
}

int main(void) {
    size_t size = __VERIFIER_nondet_ulong();
    __CPROVER_assume(size >= 4 && size < 1000);
    char *p = malloc(size);
    __CPROVER_assert(__CPROVER_r_ok(p, size) && !__CPROVER_r_ok(p, size + 1), "all of it");
    __CPROVER_assert(__CPROVER_w_ok(p + 3) && __CPROVER_rw_ok(p + 4, size - 4), "a part of it");
    __CPROVER_assert(!__CPROVER_r_ok(p + 4, size), "beyond");
    __CPROVER_assert(__CPROVER_OBJECT_SIZE(p + 2) == size && __CPROVER_POINTER_OFFSET(p + 2) == 2, "in the object");
    __CPROVER_assert(__CPROVER_same_object(p, p + size), "the end belongs to it");
    __CPROVER_assert(!__CPROVER_same_object(p, global) && __CPROVER_same_object(global, &global[5]), "others do not");
    __CPROVER_assert(__CPROVER_POINTER_OBJECT(global) == __CPROVER_POINTER_OBJECT(global + 3), "");
    __CPROVER_assert(__CPROVER_POINTER_OBJECT(p) != __CPROVER_POINTER_OBJECT(global), "");

    void *null = 0;
    __CPROVER_assert(!__CPROVER_r_ok(null, 1) && !__CPROVER_w_ok(null, 0), "null is not valid");
    __CPROVER_assert(__CPROVER_OBJECT_SIZE(null) == 0 && __CPROVER_POINTER_OBJECT(null) == 0, "");
    __CPROVER_assert(__CPROVER_r_ok(&constant) && sizeof(global) == __CPROVER_OBJECT_SIZE(&global), "");
    check(!__CPROVER_r_ok(dangling()));

    char *q = __VERIFIER_nondet_bool() ? p : null;
    wrong(__CPROVER_r_ok(q, 1));
    check(__CPROVER_r_ok(q, 1) == (q != null));
    free(p);
    __CPROVER_assert(!__CPROVER_r_ok(p, 1), "freed");
    return 0;
}
