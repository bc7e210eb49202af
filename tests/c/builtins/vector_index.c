// An index beyond the elements of a vector is undefined: clang's code uses the remainder, gcc's accesses memory after the vector.
// native: unseen
// run: --property unreach-call -DINDEX=3 => TRUE
// run: --property unreach-call -DINDEX=5 => UNKNOWN
// run: --property unreach-call -DINDEX=5 -DOTHERWISE => UNKNOWN
// run: --property valid-memsafety -DINDEX=5 -DWRITES => UNKNOWN
// run: --property unreach-call -DINDEX=3 -DWRITES => TRUE
// run: --property unreach-call -DINDEX=5 -DWRITES => UNKNOWN
// run: --property unreach-call -DINDEX=5 -DWRITES -DOTHERWISE => UNKNOWN
// run: --check bounds -DINDEX=3 => TRUE
// run: --check bounds -DINDEX=5 => FALSE(bounds)
// run: --check default -DINDEX=5 -DWRITES => FALSE(bounds)
#include "../verify.h"

typedef int four __attribute__((vector_size(16)));

int main(void) {
    four v = {1, 2, 3, 4};
    int i = __VERIFIER_nondet_int();
    if (i < 0 || i > INDEX)
        return 0;
#ifdef WRITES
    v[i] = 7; // wrong
    if (v[1] != 2 && v[1] != 7)
#else
    int element = v[i]; // wrong
    if (element < 1 || element > 4)
#endif
        reach_error();
#ifdef OTHERWISE
    if (i == 5 && v[1] == 7)
        reach_error();
#endif
    return 0;
}
