// Clang has no checks for elements of vectors and parts of complex integers, and its code does not contain their signedness.
// native: unseen
// run: --property no-overflow -DLIMIT=1000 => TRUE
// run: --property no-overflow -DLIMIT=100000 => UNKNOWN
// run: --property no-overflow -DLIMIT=1000 -DOF_PARTS => TRUE
// run: --property no-overflow -DLIMIT=100000 -DOF_PARTS => UNKNOWN
// run: --property unreach-call -DLIMIT=100000 => TRUE
// run: --check shift -DLIMIT=1000 -DSHIFTS=31 => TRUE
// run: --check shift -DLIMIT=1000 -DSHIFTS=32 => FALSE(shift)
// run: --check default -DLIMIT=1000 -DOF_PARTS => TRUE
#include "../verify.h"

typedef int four __attribute__((vector_size(16)));

int main(void) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= 0 && n < LIMIT);
#if defined(SHIFTS)
    unsigned by = __VERIFIER_nondet_uint();
    __VERIFIER_assume(by <= SHIFTS);
    four v = {1, 1, 0, 1}, w = {0, by, 0, 1};
    v = v >> w; // wrong
    return v[0];
#elif defined(OF_PARTS)
    int _Complex v = n;
    __imag__ v = n - 1;
    v = v * v;
    v = v + 1;
    v = -v;
    return __real__ v;
#else
    four v = {n, 2, 3, 4};
    v = v * v + 1;
    v = -v;
    if (v[1] != -5)
        reach_error();
    return v[0];
#endif
}
