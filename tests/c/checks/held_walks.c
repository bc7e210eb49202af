// The target of a pointer is known after an access, if the pointer traverses an array without a known bound, and if it may have been null before.
// run: --check address => TRUE
// run: --check address -DLINK => FALSE(address)
// run: --check address -DFAR => FALSE(address)
// run: --check address -DNO_INPUT => FALSE(address)
#include "../verify.h"

struct state {
    int *link;
    unsigned char table[100];
};

int main(void) {
    int value = 1;
    struct state state = {&value};
#ifdef LINK
    state.link = 0;
#endif
    unsigned char *next = state.table;
    unsigned left = __VERIFIER_nondet_uint() % 8;
    while (left--) {
        *next = 1;
        next += 3;
    }
    *state.link = 3; // wrong with LINK

    unsigned char bytes[8] = {1, 2};
    unsigned have = __VERIFIER_nondet_uint() % 2 * 4;
    const unsigned char *input = have ? bytes : 0;
    unsigned taken = have ? __VERIFIER_nondet_uint() % 4 : 0;
    input += taken;
#ifndef NO_INPUT
    if (!have)
        return 0;
#endif
    value = input[0]; // wrong with NO_INPUT
#ifdef FAR
    return input[5]; // wrong with FAR
#endif
    return input[4] + input[0]; // wrong with NO_INPUT
}
