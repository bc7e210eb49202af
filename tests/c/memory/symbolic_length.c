// memcpy with an unknown length.
#include "../verify.h"
#include <string.h>

int main(void) {
    char a[4] = "123", b[4] = "abc";
    unsigned n = __VERIFIER_nondet_uint() & 3;
    memcpy(a, b, n);
    check(n < 1 || a[0] == 'a');
    check(n >= 3 || a[2] == '3');
    wrong(a[1] != 'b' || a[2] != '3');
    return 0;
}
