// A product and a sum in one expression are rounded once if the machine has an instruction for it, as by default in clang and gcc.
// run: => TRUE
// run: -mfma => FALSE(unreach-call)
// run: -march=haswell => FALSE(unreach-call)
// run: -mfma4 -DAS_FLOAT => FALSE(unreach-call)
// run: -march=haswell -mno-fma => TRUE
// run: -mfma -ffp-contract=off => TRUE
// run: -mfma -DAPART => TRUE
// run: -DONE_FUNCTION => FALSE(unreach-call)
// run: -mfma -DAS_LONG_DOUBLE => TRUE
// run: -ffast-math => UNKNOWN
// native: unseen
#include "../verify.h"
#ifdef AS_FLOAT
typedef float number;
#define SMALL (1.0f / (1 << 13))
#elif defined AS_LONG_DOUBLE
typedef long double number;
#define SMALL (1.0L / (1ull << 32))
#else
typedef double number;
#define SMALL (1.0 / (1 << 30))
#endif

#ifdef ONE_FUNCTION
__attribute__((target("fma")))
#endif
static number rest(number a, number c) {
#ifdef APART
    number product = a * a;
    return product - c;
#else
    return a * a - c;
#endif
}

int main(void) {
    volatile number a = 1 + SMALL, c = 1 + 2 * SMALL;
    if (rest(a, c) != 0)
        reach_error(); // wrong
    return 0;
}
