// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// Numbers from wide strings and by swscanf, conversion of strings in parts, classes by name; fields of sscanf.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>
#include <wctype.h>
#include "../verify.h"

int main(void) {
    wchar_t *end, text[] = L" -0x1fz";
    if (wcstol(text, &end, 0) != -31 || *end != L'z')
        reach_error();
    if (wcstod(L"2.5e1x", &end) != 25 || *end != L'x')
        reach_error();
    int n = 0;
    char word[8];
    wchar_t wide[8];
    if (swscanf(L"12 abc d", L"%d %7s %7ls", &n, word, wide) != 3 || n != 12 || strcmp(word, "abc") || wcscmp(wide, L"d"))
        reach_error();
    char bytes[8] = "abc";
    const char *from = bytes;
    if (mbsrtowcs(wide, &from, 2, NULL) != 2 || from != bytes + 2 || mbsrtowcs(wide, &from, 8, NULL) != 1 || from)
        reach_error();
    bytes[0] = __VERIFIER_nondet_char();
    __VERIFIER_assume(bytes[0] > 0);
    wint_t c = btowc(bytes[0]);
    if (!iswctype(c, wctype("alpha")) != !iswalpha(c) || towctrans(c, wctrans("toupper")) != towupper(c))
        reach_error();
    // An incomplete character is not read again.
    double x = 0, y = 0;
    if (sscanf("1.25e+x", "%3lf%lf%7s", &x, &y, word) != 3 || x != 1.2 || y != 5 || strcmp(word, "x"))
        reach_error();
    char *allocated = NULL;
    if (sscanf("some words", "%m[a-z]", &allocated) != 1 || strcmp(allocated, "some"))
        reach_error();
    free(allocated);
#ifdef BUG
    if (wcscasecmp(wide, L"C") == 0)
        reach_error(); // wrong
#endif
    return 0;
}
