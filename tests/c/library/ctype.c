#include "../verify.h"
#include <ctype.h>

int main(void) {
    unsigned char c = __VERIFIER_nondet_uchar();
    if (c > 127)
        return 0;
    check(!isdigit(c) || (c >= '0' && c <= '9'));
    check(!isalpha(c) || isupper(c) || islower(c));
    check(!isupper(c) || tolower(c) == c + 32);
    check(isalnum(c) ? isalpha(c) || isdigit(c) : 1);
    check(isspace(' ') && isspace('\t') && !isspace('x'));
    check(toupper('a') == 'A' && isxdigit('F') && ispunct('!'));
    wrong(!islower(c) || toupper(c) != 'Q');
    return 0;
}
