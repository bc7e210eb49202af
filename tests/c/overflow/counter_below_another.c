// run: --check signed-integer-overflow => TRUE
// A counter is at most as large as another one, which is bounded.
#include "../verify.h"

int main(void) {
    int count = __VERIFIER_nondet_int(), odd = 0;
    for (int i = 0; i < count; i++)
        if (__VERIFIER_nondet_int())
            odd++;
    return odd > 3;
}
