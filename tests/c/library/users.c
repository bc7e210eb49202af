// The data of a user is overwritten when another one is queried.
// run: => UNKNOWN
// run: -DONCE => TRUE
#include "../verify.h"
#include <pwd.h>

int main(void) {
    struct passwd *user = getpwuid(0);
    if (!user)
        return 1;
    char *name = user->pw_name, first = *name;
#ifndef ONCE
    getpwuid(1);
#endif
    check(*name == first);
    return 0;
}
