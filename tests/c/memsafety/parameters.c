// run: --property valid-memsafety => TRUE
// run: --property valid-memsafety --32 => TRUE
// run: --property valid-memsafety -DBUG=1 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=2 => FALSE(valid-deref)
// run: --property valid-memsafety -DBUG=3 => FALSE(valid-memtrack)
// run: --check address -DBUG=1 => FALSE(address)
// native: unseen
// A struct that is passed by value lives as long as the call, although the caller creates it in the ABI; so do variadic arguments.
#include "../verify.h"
#include <stdarg.h>
#include <stdlib.h>

#ifndef BUG
#define BUG 0
#endif

struct large {
    int *first;
    int rest[20];
};

static int *within(struct large l) {
    l.rest[1] = 7;
    return BUG == 1 ? &l.rest[1] : l.first;
}

static va_list *kept;

static int sum(int count, ...) {
    va_list list;
    va_start(list, count);
    if (BUG == 2)
        kept = &list;
    int result = 0;
    while (count-- > 0)
        result += va_arg(list, struct large).rest[2];
    va_end(list);
    return result;
}

int main(void) {
    struct large l = {malloc(sizeof(int)), {1, 2, 3}}; // wrong
    *l.first = 4;
    int *found = within(l);
    int result = *found; // wrong
    result += sum(2, l, l);
    if (BUG == 2)
        result += va_arg(*kept, int); // wrong
    if (BUG != 3)
        free(l.first);
    l.first = found = 0;
    exit(result); // wrong
}
