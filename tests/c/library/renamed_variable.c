// run: => UNKNOWN
// run: -DSAME => TRUE
// run: -DSAME -DBUG => FALSE(unreach-call)
// The string of `putenv` is part of the environment: a program that changes its name renames the variable.
#include "../verify.h"
#include <stdlib.h>

int main(void) {
    static char entry[] = "FIRST=x";
    check(putenv(entry) == 0);
#ifdef SAME
    entry[6] = 'y';
    check(*getenv("FIRST") == 'y');
    wrong(*getenv("FIRST") == 'x'); // wrong
#else
    entry[0] = 'B';
    check(getenv("BIRST") == entry + 6 && !getenv("FIRST"));
#endif
    return 0;
}
