// The length of a text is less than the size of the address space, so a few copies of it can be allocated.
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *quoted(const char *text) {
    char *copy = malloc(4 * strlen(text) + 3);
    check(copy != NULL);
    return copy;
}

int main(int argc, char **argv) {
    char line[20];
    char *text = argc > 1 ? argv[1] : line;
    if (!fgets(line, sizeof line, stdin))
        return 0;
    wrong(strlen(text) < 3);
    free(quoted(text));
    return 0;
}
