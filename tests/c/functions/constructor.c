// Constructors run before main, by priority.
#include "../verify.h"

static int order;
__attribute__((constructor(202))) static void second(void) { order = order * 10 + 2; }
__attribute__((constructor(201))) static void first(void) { order = order * 10 + 1; }
__attribute__((constructor)) static void third(void) { order = order * 10 + 3; }

int main(void) {
    check(order == 123);
    wrong(order + __VERIFIER_nondet_int() != 0);
    return 0;
}
