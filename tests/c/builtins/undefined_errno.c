// run: => UNKNOWN
// run: --undefined-functions any-value => TRUE
// run: --undefined-functions any-effect => FALSE(unreach-call)
// run: --undefined-functions any-effect -DREAD => TRUE
// native: no
// An undefined function with effects may set `errno`, like any other variable of the program.
#include "../verify.h"
#include <errno.h>

void act(void);

int main(void) {
    int kept = 3;
    errno = 0;
    act();
#ifndef READ
    check(errno == 0); // wrong
#endif
    check(kept == 3);
    return 0;
}
