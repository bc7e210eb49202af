// memcpy with a length that is not known.
#include "../verify.h"
#include <string.h>

int main(void) {
    char a[6] = "12345", b[6] = "abcde";
    unsigned n = __VERIFIER_nondet_uint() % 6;
    memcpy(a, b, n);
    check(n < 1 || a[0] == 'a');
    check(n >= 5 || a[4] == '5');
    wrong(a[2] != 'c' || a[3] != '4');
    return 0;
}
