// Formatted output of wide characters, and of wide strings as bytes.
#include <stdio.h>
#include <stdlib.h>
#include <wchar.h>
#include <wctype.h>
#include "../verify.h"

int main(void) {
    wchar_t text[12];
    int n = __VERIFIER_nondet_int();
    __VERIFIER_assume(n >= -99 && n <= 999);
    int length = swprintf(text, 12, L"<%d|%s>", n, "ab");
    if (length != (int)wcslen(text) || length < 6 || length > 8 || text[0] != L'<' || text[length - 1] != L'>')
        reach_error();
    if (swprintf(text, 4, L"%ls", L"abcd") != -1)
        reach_error();
    char bytes[12];
    if (snprintf(bytes, sizeof bytes, "%ls,%lc", L"xy", L'z') != 4 || bytes[3] != 'z')
        reach_error();
    // It is no byte in the locale "C".
    if (snprintf(bytes, sizeof bytes, "%ls", L"\u20ac") != -1)
        reach_error();
    if (wcstombs(bytes, L"abc", sizeof bytes) != 3 || mbtowc(text, bytes + 1, 2) != 1 || text[0] != L'b')
        reach_error();
    if (towupper(L'a') != L'A' || iswalpha(0x20ac))
        reach_error();
    if (wprintf(L"%d\n", 12) != 3)
        reach_error();
#ifdef BUG
    if (swprintf(text, 12, L"%x", n) == 8)
        reach_error(); // wrong
#endif
    return 0;
}
