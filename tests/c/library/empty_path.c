// An empty path names no file, so a stream of it cannot be opened.
// run: => TRUE
// run: -DNAMED => FALSE(unreach-call)
#include "../verify.h"
#include <stdio.h>

int main(int argc, char **argv) {
    const char *path = argc > 1 ? argv[1] : "";
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
#ifdef NAMED
    if (*path)
        reach_error(); // wrong
#else
    if (!*path)
        reach_error();
#endif
    fclose(file);
    return 0;
}
