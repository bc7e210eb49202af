// memcpy and memset with a length that is not known.
#include "../verify.h"
#include <string.h>

int main(void) {
    char a[10] = "123456789", b[10] = "abcdefghi";
    unsigned n = __VERIFIER_nondet_uint() % 10;
    memcpy(a, b, n);
    check(n < 1 || a[0] == 'a');
    check(n >= 9 || a[8] == '9');
    unsigned m = __VERIFIER_nondet_uint() % 10;
    memset(a, 'x', m);
    check(m == 0 || a[m - 1] == 'x');
    wrong(a[4] != 'e' || a[3] != 'x' || a[5] != '6');
    return 0;
}
