#include "../verify.h"

#define SLOTS 8
static unsigned keys[SLOTS];
static _Bool used[SLOTS];

static unsigned slot(unsigned key) {
    unsigned i = (key * 2654435761u) >> 29;
    while (used[i] && keys[i] != key)
        i = (i + 1) % SLOTS;
    return i;
}
static void put(unsigned key) {
    unsigned i = slot(key);
    used[i] = 1;
    keys[i] = key;
}

int main(void) {
    unsigned a = __VERIFIER_nondet_uchar(), b = __VERIFIER_nondet_uchar();
    put(a);
    put(b);
    check(used[slot(a)] && keys[slot(a)] == a);
    check(used[slot(b)] && keys[slot(b)] == b);
    wrong(a == b || slot(b) == (b * 2654435761u) >> 29);
    return 0;
}
