// Four ranks, in a structure on the heap and of several types: packets of a connection are sent again, parts of packets, bytes of parts.
// With LIMIT 0, a byte that fails is tried again without end.
// run: --property termination => TRUE
// run: --property termination -DLIMIT=0 => FALSE(termination)
// ranks: 4
#include <stdlib.h>
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern short __VERIFIER_nondet_short(void);
#ifndef LIMIT
#define LIMIT 1
#endif

struct transfer {
    unsigned packets;
    short parts;
    int bytes;
    unsigned char tries;
};

int main(void) {
    struct transfer *t = malloc(sizeof *t);
    t->packets = __VERIFIER_nondet_uint();
    t->parts = __VERIFIER_nondet_short();
    t->bytes = __VERIFIER_nondet_int();
    t->tries = __VERIFIER_nondet_uchar();
    while (t->packets > 0) { // wrong
        if (t->parts <= 0) {
            t->packets--;
            t->parts = __VERIFIER_nondet_short();
        } else if (t->bytes <= 0) {
            t->parts--;
            t->bytes = __VERIFIER_nondet_int();
        } else if (t->tries < LIMIT) {
            t->bytes--;
            t->tries = __VERIFIER_nondet_uchar();
        } else if (t->tries > 0) {
            t->tries--;
        }
    }
    free(t);
    return 0;
}
