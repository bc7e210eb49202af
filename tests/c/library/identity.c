// The identity of the program does not change, unless the program changes it.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DBECOMES => UNKNOWN
#include "../verify.h"
#include <unistd.h>

int main(void) {
    unsigned user = getuid();
    check(getpid() == getpid());
#ifdef BECOMES
    if (setuid(7) != 0)
        return 1;
#endif
    check(getuid() == user);
    wrong(getuid() != 1000 || geteuid() != 0);
    return 0;
}
