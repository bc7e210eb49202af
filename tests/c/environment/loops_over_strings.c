// run: --property valid-deref => TRUE
// run: --property unreach-call => TRUE
// run: -DBUG --property valid-deref => FALSE(valid-deref)
// A string of any length ends at its null byte, and so do loops over it.
#include "../verify.h"
#include <stdio.h>
#include <string.h>

int main(int argc, char **argv) {
    if (argc != 2)
        return 1;
    size_t n = strlen(argv[1]);
    check(argv[1][n] == 0);
    char *end = argv[1];
    while (*end && *end != '=')
        end++;
    printf("%s %s\n", argv[1], end);
#ifdef BUG
    return end[1]; // wrong
#endif
    return end[0];
}
