// Wide characters from standard input: the harness writes their bytes.
#include <stdio.h>
#include <wchar.h>
#include "../verify.h"

int main(void) {
    wchar_t line[8];
    if (!fgetws(line, 8, stdin))
        return 1;
    size_t length = wcslen(line);
    if (length == 0 && line[0] != 0)
        reach_error();
    if (length > 7)
        reach_error();
    wint_t next = getwchar();
    if (next != WEOF && next > 0x7f)
        reach_error();
#ifdef BUG
    if (next == L'q' && length == 7 && line[2] == L'x')
        reach_error(); // wrong
#endif
    fputws(line, stdout);
    return 0;
}
