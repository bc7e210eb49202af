// Wide strings.
#include <wchar.h>
#include "../verify.h"

int main(void) {
    wchar_t text[8] = L"ab", *end;
    wcscat(text, L"cd");
    if (wcslen(text) != 4 || wcscmp(text, L"abcd") != 0 || wcsncmp(text, L"abx", 3) >= 0)
        reach_error();
    unsigned n = __VERIFIER_nondet_uint();
    __VERIFIER_assume(n < 5);
    wmemset(text + n, L'x', 2);
    if (wcschr(text, L'x') != text + n)
        reach_error();
#ifdef BUG
    if (wcslen(text) == 6)
        reach_error(); // wrong
#endif
    text[7] = 0;
    end = wcsrchr(text, L'x');
    if (end != text + n + 1)
        reach_error();
    return 0;
}
