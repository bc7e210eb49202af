// run: --check memory => TRUE
// run: --check memory -DCOPY => FALSE(memory)
// run: --check memory -DEITHER => FALSE(memory)
// run: --check memory -DINDEX => FALSE(memory)
// All of a constant is initialised, whatever the index: that is seen before slicing. Of what is copied from it only the part that is.
// native: no
#include "../verify.h"

enum { LETTER, DIGIT, OTHER };
static const unsigned char classes[8] = {LETTER, LETTER, DIGIT, OTHER, LETTER, DIGIT, DIGIT};
static const int limits[2][2] = {{3, 4}, {5}};

static unsigned length(const char *text) {
    unsigned n = 0;
    while (text[n])
        n++;
    return n;
}

int main(void) {
    unsigned char own[8];
    unsigned at = __VERIFIER_nondet_uint() & 7;
    const unsigned char *table = classes;
#ifdef COPY
    for (int i = 0; i < 7; i++)
        own[i] = classes[i];
    table = own;
#endif
#ifdef EITHER
    if (__VERIFIER_nondet_int())
        table = own;
#endif
#ifdef INDEX
    unsigned unset;
    if (at > 3)
        unset = at;
    at = unset & 7;
#endif
    int found = 0;
    if (table[at] == DIGIT) // wrong
        found = 1;
    if (limits[at & 1][at >> 2] > 4)
        found += 2;
    found += length("four") == length(found ? "a" : "b");
    switch (classes[found & 7]) {
    case LETTER:
        return 1;
    case DIGIT:
        return 2;
    }
    return own != table;
}
