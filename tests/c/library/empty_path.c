// An empty path names no file.
// run: => TRUE
// run: -DNAMED => FALSE(unreach-call)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

int main(int argc, char **argv) {
    char target[4];
    if (readlink("", target, sizeof target) != -1 || realpath("", NULL))
        reach_error();
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
