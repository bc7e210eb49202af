// Common definitions of the programs in this folder. Each program has the name of a check, which is verified three times: with values well within the
// allowed range, with the last allowed value (EDGE), and with the next value (BEYOND), which violates the check on the line marked `wrong`.
#ifndef EDGE_H
#define EDGE_H

#include "../../verify.h"

#define WITHIN 0
#define EDGE 1
#define BEYOND 2
#ifndef AT
#define AT WITHIN
#endif
#define at(within, edge, beyond) (AT == WITHIN ? (within) : AT == EDGE ? (edge) : (beyond))

// Any number from `low` to `high`.
static int between(int low, int high) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(low <= n && n <= high);
    return n;
}

#endif
