// run: --property valid-memsafety => TRUE
// run: --property valid-memcleanup => TRUE
// run: --property valid-memcleanup -DKEPT => FALSE(valid-memcleanup)
// run: --property valid-memsafety -DKEPT => TRUE
// run: --property valid-memcleanup -DLINE => TRUE
// run: --property valid-memsafety -DBEYOND => FALSE(valid-deref)
// run: --property valid-memcleanup -DABORTS => FALSE(valid-memcleanup)
// run: --property valid-memsafety -DABORTS => TRUE
// A handler of `atexit` frees memory at the end; variables of `main` still exist when it calls `exit`; `realloc` and others set `errno`;
// `getline` returns memory.
#include "../verify.h"
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char *at_the_end;

static void finish(void) { free(at_the_end); }

int main(void) {
#ifdef LINE
    char *line = NULL;
    size_t size = 0;
    if (getline(&line, &size, stdin) > 0)
        line[0] = 'x';
    free(line);
#endif
    at_the_end = malloc(4); // wrong
    atexit(finish);
    errno = 0;
    char *larger = realloc(at_the_end, SIZE_MAX / 2 + 1);
    if (larger == NULL && errno == ENOMEM && write(-1, "x", 1) < 0) {
        char *own = malloc(2); // wrong
#ifdef BEYOND
        own[2] = 1; // wrong
#endif
        own[1] = 1;
#ifdef ABORTS
        abort();
#endif
#ifndef KEPT
        free(own);
#endif
        exit(own == NULL);
    }
    return 0;
}
