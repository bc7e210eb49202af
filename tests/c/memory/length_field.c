// A length that is read back from a block of that length, after writes at unknown places after it.
#include "../verify.h"
#include <stdlib.h>
extern unsigned long __VERIFIER_nondet_ulong(void);

struct text {
    unsigned long length;
    unsigned char bytes[];
};

int main(void) {
    unsigned long length = __VERIFIER_nondet_ulong(), i = __VERIFIER_nondet_ulong();
    __VERIFIER_assume(length < 1ul << 28);
    struct text *t = malloc(sizeof *t + length + 1);
    t->length = length;
    t->bytes[length] = 0;
    __VERIFIER_assume(i < t->length);
    t->bytes[i] = 1;
    check(t->length == length && t->bytes[t->length] == 0);
#ifdef BUG
    t->bytes[t->length - 1] = 7;
    wrong(t->bytes[i] == 1);
#endif
    free(t);
}
