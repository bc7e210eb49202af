// Output that fails does not move the position of a stream. The position after output is not modelled exactly.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DWRITES => UNKNOWN
// run: -DSCANS => UNKNOWN
// run: -DAPPENDS => UNKNOWN
#include "../verify.h"
#include <stdio.h>

int main(void) {
#ifdef APPENDS
    FILE *both = fopen("file", "a+");
    if (both)
        check(ftell(both) <= 0); // so in glibc
#endif
    FILE *file = fopen("file", "r+");
    if (file && fputs("abc", file) >= 0) {
        long at = ftell(file);
#ifdef WRITES
        if (at != 3 && at != -1)
            reach_error();
#endif
    }
    FILE *input = fopen("input", "r");
    if (!input)
        return 0;
    int failed = fputc('a', input) == EOF;
    if (!failed)
        reach_error();
    long start = ftell(input);
    if (start != 0 && start != -1)
        reach_error();
    int c = fgetc(input);
    long next = ftell(input);
#ifdef BUG
    if (next == 1)
        reach_error(); // wrong
#endif
    if (c != EOF && next != 1 && next != -1)
        reach_error();
#ifdef SCANS
    char letter;
    if (c != EOF && fscanf(input, "%c", &letter) == 1) {
        next = ftell(input);
        if (next != 2 && next != -1)
            reach_error();
    }
#endif
    return 0;
}
