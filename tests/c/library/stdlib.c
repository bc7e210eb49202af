#include "../verify.h"
#include <stdlib.h>

int main(void) {
    check(abs(-5) == 5 && labs(-7l) == 7);
    check(atoi("42") == 42 && atoi("-17x") == -17 && atol("123456789012") == 123456789012l);
    char *end;
    check(strtol("0x1f", &end, 16) == 31 && *end == 0);
    check(strtoul("777", 0, 8) == 511);
    div_t d = div(17, 5);
    check(d.quot == 3 && d.rem == 2);
    char s[4] = "00";
    s[0] = __VERIFIER_nondet_char();
    s[1] = __VERIFIER_nondet_char();
    int n = atoi(s);
    check(n >= -9 && n <= 99);
    wrong(n != 73);
    return 0;
}
