// Widths, precisions and lengths of formatted output that exceed `int`.
#define _GNU_SOURCE
#include "../verify.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>

int main(void) {
    char b[9], *text;
    wchar_t w[9];
    int n = __VERIFIER_nondet_int(), read;
    __VERIFIER_assume(n >= 0 && n <= 20);
    int length = printf("%*d", n, 5);
    check(length == (n > 1 ? n : 1));
    wrong(length < 12);
    errno = 0;
    check(snprintf(b, 9, "a%.2147483648dx", 5) == -1 && errno == EOVERFLOW && b[0] == 'a' && !b[1]);
    check(sprintf(b, "%.4294967290s", "longer than the buffer") == -1);
    check(snprintf(b, 9, "%4294967298d", 5) == -1 && asprintf(&text, "%.99999999999999999999d", 5) == -1);
    check(snprintf(b, 9, "%*d", INT_MIN, 1) == -1 && b[0] == '1' && b[7] == ' ');
    check(snprintf(b, 9, "%*s", INT_MAX, "a") == INT_MAX && snprintf(b, 9, "%*sa", INT_MAX, "a") == -1);
    check(snprintf(b, 9, "%.*s", INT_MAX, "abc") == 3 && printf("%*d%*d", INT_MAX, 1, INT_MAX, 1) == -1);
    check(swprintf(w, 9, L"%.2147483648d", 5) == -1);
    check(sscanf("123456", "%4294967298d", &read) == 1 && read == 123456);
    return 0;
}
