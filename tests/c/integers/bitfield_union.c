#include "../verify.h"

union word {
    unsigned all;
    struct {
        unsigned low : 4;
        unsigned mid : 20;
        unsigned high : 8;
    } part;
};

int main(void) {
    union word w;
    w.all = __VERIFIER_nondet_uint();
    check(w.part.low == (w.all & 15));
    check(w.part.high == w.all >> 24);
    unsigned before = w.all;
    w.part.mid = 0;
    check(w.all == (before & 0xff00000f));
    wrong(w.part.high != 0xca || w.part.low != 0xe);
    return 0;
}
