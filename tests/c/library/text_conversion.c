// run: => TRUE
// run: -DWRONG=room==4 => UNKNOWN
// run: --property valid-deref -DSIZE=9 => UNKNOWN
// run: -DNUMBER=13 => FALSE(unreach-call)
// `iconv` advances both texts by as many bytes as it counts, and writes only to the second. Numbers are read as in the locale "C".
#define _GNU_SOURCE
#include <iconv.h>
#include <locale.h>
#include <stdlib.h>
#include "../verify.h"

#ifndef WRONG
#define WRONG 1
#endif
#ifndef SIZE
#define SIZE 8
#endif
#ifndef NUMBER
#define NUMBER 12
#endif

int main(void) {
    locale_t c = newlocale(LC_ALL_MASK, "C", 0);
    if (c) {
        char *end;
        check(strtod_l("1.5x", &end, c) == 1.5 && *end == 'x' && strtol_l("12", 0, 10, c) == NUMBER); // wrong
        freelocale(c);
    }
    char text[] = "word", result[8], *from = text, *to = result;
    size_t left = 4, room = SIZE;
    iconv_t conversion = iconv_open("UTF-8", "ISO-8859-1");
    if (conversion == (iconv_t)-1)
        return 1;
    size_t inexact = iconv(conversion, &from, &left, &to, &room);
    check(from == text + 4 - left && to == result + SIZE - room && room <= SIZE);
    if (inexact != (size_t)-1)
        check(left == 0 && WRONG);
    return iconv_close(conversion);
}
