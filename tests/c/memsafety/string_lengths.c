// Strings of any length: the result of strlen bounds a copy, whether it is compared with a constant or used as the size of the destination.
// run: --property valid-deref => TRUE
// run: -DNO_ROOM --property valid-deref => FALSE(valid-deref)
// run: -DONE_LESS --property valid-deref => FALSE(valid-deref)
// run: -DOVERWRITTEN --property valid-deref => FALSE(valid-deref)
// run: -DIN_CALLEE --property valid-deref => FALSE(valid-deref)
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

static char *any_string(void) {
    unsigned long size = __VERIFIER_nondet_ulong();
    __VERIFIER_assume(size >= 1 && size <= 1000000);
    char *s = malloc(size);
    s[size - 1] = 0;
    return s;
}

static char *duplicate(const char *s) {
    size_t length = strlen(s);
#ifdef ONE_LESS
    char *copy = malloc(length);
#else
    char *copy = malloc(length + 1);
#endif
    return strcpy(copy, s); // ONE_LESS: wrong, in strcpy
}

static void set(char *s, size_t at) { s[at] = 'x'; }

int main(void) {
    char *s = any_string();
    char *copy = duplicate(s);
    char buffer[16];
#ifdef NO_ROOM
    if (strlen(copy) > sizeof buffer)
#else
    size_t length = strlen(copy);
    if (length >= sizeof buffer)
#endif
        return 1;
#ifdef OVERWRITTEN
    copy[length] = 'x';
#elif defined IN_CALLEE
    set(copy, length);
#endif
    strcpy(buffer, copy); // wrong, in strcpy
    return strlen(buffer) > 15;
}
