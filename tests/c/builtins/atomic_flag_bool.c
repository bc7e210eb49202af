#include "../verify.h"
#include <stdatomic.h>

struct pair { short a, b; };

int main(void) {
    atomic_flag f = ATOMIC_FLAG_INIT;
    check(!atomic_flag_test_and_set(&f));
    check(atomic_flag_test_and_set(&f));
    atomic_flag_clear(&f);
    _Atomic struct pair p;
    struct pair v = {1, __VERIFIER_nondet_short()};
    p = v;
    struct pair w = p;
    check(w.a == 1 && w.b == v.b);
    _Atomic _Bool done = 0;
    done = 1;
    check(done);
    wrong(w.b != 321);
    return 0;
}
