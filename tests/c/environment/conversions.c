// run: -DBUG => FALSE(unreach-call)
// The harness makes text of the values that scanf stores, and scanf reads them back.
#include "../verify.h"
#include <stdio.h>

int main(void) {
    char word[4], digits[8], c;
    unsigned x;
    short s;
    double d;
    if (scanf("%hd,%x %3s%lf %[0-9]%c", &s, &x, word, &d, digits, &c) != 6)
        return 1;
    check(digits[0] >= '0' && digits[0] <= '9');
    wrong(s != -2 || x != 0xdeadbeef || word[0] != 'w' || d != 0.1 || digits[1] != '8' || digits[2] || c != ';');
    return 0;
}
