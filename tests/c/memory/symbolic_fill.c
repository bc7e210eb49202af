// memset with an unknown length.
#include "../verify.h"
#include <string.h>

int main(void) {
    char a[8] = "1234567";
    unsigned n = __VERIFIER_nondet_uint() % 8;
    memset(a, 'x', n);
    check(n == 0 || a[n - 1] == 'x');
    check(n == 7 || a[6] == '7');
    wrong(a[3] != 'x' || a[4] != '5');
    return 0;
}
