// run: --entry sum => TRUE
// run: --entry sum --entry-pointers maybe-null => TRUE
// run: --entry sum -DFIFTH => FALSE(unreach-call)
// run: --entry both => UNKNOWN
// run: --entry sum --entry-array-length 2 => UNKNOWN
// native: no
// A caller passes at least as many elements as `static` states (C17, 6.7.6.3p7).
#include "../verify.h"

struct pair {
    int first, second;
};

int sum(const unsigned values[static 4]) {
    unsigned all = values[0] + values[3];
#ifdef FIFTH
    check(all != 12345 || values[4] != 3); // wrong
#endif
    return all > 3;
}

int both(struct pair pairs[static 2]) { return pairs[1].first > 3; }
