#include "../verify.h"

int main(void) {
    __int128 x = __VERIFIER_nondet_int128();
    unsigned __int128 u = __VERIFIER_nondet_uint128();
    if (x > 0)
        check(-x < 0);
    check((__int128)(u >> 1) >= 0);
    wrong(x != ((__int128)123456789 << 70) + 42);
    return 0;
}
