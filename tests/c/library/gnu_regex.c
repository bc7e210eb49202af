// run: => TRUE
// run: --timeout 5 -DWRONG=parts.end[0]>at => UNKNOWN
// run: --timeout 5 --property valid-deref -DFIRST=4 => UNKNOWN
// The GNU functions for regular expressions: a match and its groups lie in the text, and other memory does not change.
#define _GNU_SOURCE
#include <regex.h>
#include <stdio.h>
#include <string.h>
#include "../verify.h"

#ifndef WRONG
#define WRONG 1
#endif
#ifndef FIRST
#define FIRST 0
#endif

static struct re_pattern_buffer expression;
static char fastmap[256];
static struct re_registers parts;
static int table[4] = {1, 2, 3, 4};

int main(void) {
    char line[100];
    expression.fastmap = fastmap;
    re_syntax_options = RE_SYNTAX_POSIX_BASIC & ~RE_INTERVALS;
    const char *error = re_compile_pattern("\\(a\\)*b", 7, &expression);
    check(re_set_syntax(0) == (RE_SYNTAX_POSIX_BASIC & ~RE_INTERVALS));
    if (error) {
        puts(error);
        return 2;
    }
    if (!fgets(line, sizeof line, stdin))
        return 3;
    int length = strlen(line);
    int at = re_search(&expression, line, length, 0, length, &parts);
    check(table[3] == 4);
    if (at >= 0) {
        check(at <= length && parts.start[FIRST] == at);
        check(parts.end[0] >= at && parts.end[0] <= length);
        check(WRONG);
        line[parts.end[0]] = 0;
    }
    check(re_match(&expression, line, length, length + 1, 0) == -1);
    return 0;
}
