#include "../verify.h"
#include <string.h>

struct big { int a[20]; char tail; };

int main(void) {
    struct big x = {.tail = 't'}, y;
    x.a[7] = __VERIFIER_nondet_int();
    y = x;
    check(y.a[7] == x.a[7] && y.tail == 't');
    y = y;
    x.a[7] = 0;
    struct big *p = &y;
    x = *p;
    check(x.a[7] == y.a[7]);
    char s[] = "abcdef";
    memmove(s, s + 2, 4);
    check(s[0] == 'c' && s[3] == 'f' && s[4] == 'e');
    wrong(y.a[7] != -1);
    return 0;
}
