// Program arguments are strings of any length. The last one is followed by a null pointer.
// run: --property valid-deref => TRUE
// run: -DUNCHECKED --property valid-deref => FALSE(valid-deref)
// run: -DLAST --property valid-deref => FALSE(valid-deref)
// run: -DBEHIND --property valid-deref => FALSE(valid-deref)
// run: -DREPLACED --property valid-deref => FALSE(valid-deref)
// run: -DMOVED --property valid-deref => FALSE(valid-deref)
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
#ifdef MOVED
    int to = __VERIFIER_nondet_int();
    if (argc < 1 || to < 0 || to > argc)
        return 1;
    argv[to] = argv[0];
    return *argv[1]; // wrong
#endif
#ifndef UNCHECKED
    if (argc != 3)
        return 1;
#endif
    char buffer[16];
#ifdef LAST
    int which = argc;
#else
    int which = 1;
#endif
#ifdef BEHIND
    argv[4] = 0; // wrong
#elif defined REPLACED
    argv[1] = 0;
#endif
    if (strlen(argv[which]) >= sizeof buffer) // wrong, in strlen
        return 2;
    strcpy(buffer, argv[1]);
    return atoi(argv[2]) + strlen(buffer) > 15;
}
