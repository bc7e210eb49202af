// What the programs here share. Each has the name of a check and is asked for it three times: with values well within what the check
// allows, with the last that it allows (EDGE), and with the next (BEYOND), on the line that says `wrong`.
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

// A number from `low` to `high`, any.
static int between(int low, int high) {
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(low <= n && n <= high);
    return n;
}

#endif
