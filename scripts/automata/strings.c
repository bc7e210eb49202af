/* hiredis: strings that grow, are cut and joined. */
#include <stddef.h>

#include "sds.h"

extern int __VERIFIER_nondet_int(void);

int main(void) {
    sds s = sdsnew("one");
    if (s == NULL)
        return 1;
    if (__VERIFIER_nondet_int())
        s = sdscat(s, " and two");
    if (s == NULL)
        return 1;
    sds copy = sdsdup(s);
    sdsrange(s, 1, 2);
    sdsfree(s);
    sdsfree(copy);
    return 0;
}
