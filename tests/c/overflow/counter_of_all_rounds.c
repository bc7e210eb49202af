// run: --check signed-integer-overflow => FALSE(signed-integer-overflow)
// The counter goes up twice a round.
#include "../verify.h"

int main(void) {
    int count = __VERIFIER_nondet_int(), seen = 2147483640;
    for (int i = 0; i < count; i++) {
        if (__VERIFIER_nondet_int())
            seen++; // wrong
        seen++; // wrong
    }
    return seen > 3;
}
