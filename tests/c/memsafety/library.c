// run: --property valid-memsafety => TRUE
// run: --property valid-memcleanup => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-memtrack)
// run: --property valid-memcleanup -DBUG=2 => FALSE(valid-memcleanup)
// Memory that the C library keeps does not leak; memory that it returns does. Sizes of zero, null, and `realloc` that frees.
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

static void at_end(void) {}
static char *kept;

int main(void) {
    FILE *log = fopen("/dev/null", "r");
    atexit(at_end);
    int known = getenv("HOME") != NULL;
    setenv("PROVISO", "1", 1);
    char *text = strdup("text"); // wrong
    if (BUG == 1)
        text = NULL;
    if (BUG == 2)
        kept = text, text = NULL;
    free(text);
    free(malloc(0));
    char *grown = realloc(NULL, 4);
    grown[3] = 1;
    grown = realloc(grown, 8);
    grown[7] = grown[3];
    free(grown);
    free(NULL);
    return log == NULL || known;
}
