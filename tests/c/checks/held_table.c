// Facts about the strings of a table hold for their current content. If the null byte of one string is overwritten and
// another one is written elsewhere, facts about the first do not hold for the second.
// run: --check address => FALSE(address)
// run: --check address --32 => FALSE(address)
// run: --check address -DENDED => TRUE
#include "../verify.h"

char text[4] = "abc";
char *table[2] = {text, text};

int main(void) {
    unsigned i = __VERIFIER_nondet_uint();
    if (i > 1)
        return 0;
    text[1] = __VERIFIER_nondet_char();
    text[2] = __VERIFIER_nondet_char();
    char *first = table[0];
    if (first[2] == 0)
        return 0;
    char *second = table[1];
    if (second[1] == 0)
        return 0;
    char *either = table[i];
    if (either[0] == 0)
        return 0;
    text[1] = text[2] = __VERIFIER_nondet_char();
#ifndef ENDED
    text[3] = __VERIFIER_nondet_char();
#endif
    text[0] = 0;
    char *walk = table[i] + 1;
    while (*walk) // wrong
        walk++;
    table[0] = walk;
    return 0;
}
