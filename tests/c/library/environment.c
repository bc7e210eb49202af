// The environment stays as it was queried or set.
#include "../verify.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char *home = getenv("HOME");
    check(getenv("HOME") == home);
    wrong(home);
    check(setenv("PROVISO", "one", 1) == 0 && strcmp(getenv("PROVISO"), "one") == 0);
    check(setenv("PROVISO", "two", 0) == 0 && strcmp(getenv("PROVISO"), "one") == 0);
    static char entry[] = "PROVISO=x";
    check(putenv(entry) == 0 && getenv("PROVISO") == entry + 8);
    check(unsetenv("PROVISO") == 0 && !getenv("PROVISO"));
    // Variables without a name are never found.
    errno = 0;
    check(setenv("PROVISO", "three", 1) == 0 && putenv("=nameless") == 0 && errno == 0);
    check(putenv("") == 0 && errno == EINVAL && !getenv("") && strcmp(getenv("PROVISO"), "three") == 0);
    // Streams stay, too.
    FILE *file = fopen("file", "r");
    if (!file)
        return 0;
    check(fileno(file) == fileno(file) && ftell(file) == ftell(file));
    int c = getc(file);
    if (c != EOF) {
        check(ungetc('x', file) == 'x' && ungetc('y', file) == 'y');
        check(getc(file) == 'y' && getc(file) == 'x');
    }
    fclose(file);
    return 0;
}
