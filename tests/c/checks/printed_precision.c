// A printed string is read up to the precision, or to its end if the precision is negative. (The sanitizer ignores precisions.)
// native: unseen
// run: --check address => TRUE
// run: --check address -DBUG=1 => FALSE(address)
// run: --check address -DBUG=2 => FALSE(address)
#include "../verify.h"
#include <stdio.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    char three[3] = {'a', 'b', 'c'};
    int n = __VERIFIER_nondet_uint() % 4;
    printf("%*.*s|%s\n", 10, n + (BUG == 1), three, "text"); // wrong
    printf("%.*s\n", n - 4, BUG == 2 ? three : "all"); // wrong
    return 0;
}
