// An element of 16 bytes is not a cell: the pre-analysis tracks cells of at most 8 bytes.
// run: --check integer-divide-by-zero => FALSE(integer-divide-by-zero)
// run: --check integer-divide-by-zero -DRIGHT => TRUE
#include "../verify.h"
#include <string.h>

union wide {
    __int128 all;
    struct __attribute__((packed)) {
        int low;
        long middle;
    } parts;
};
union wide from = {((__int128)5 << 64) | 7};
union wide to = {1};

int main(void) {
    if (__VERIFIER_nondet_int()) {
        from.all = 9;
        return 0;
    }
    memcpy(&to, &from, sizeof to);
#ifdef RIGHT
    return 10 / (int)to.parts.low;
#else
    if (to.parts.middle == 0)
        return 0;
    return (int)(10 / (to.parts.middle - (5L << 32))); // wrong
#endif
}
