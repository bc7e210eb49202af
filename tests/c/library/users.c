// The data of a user is overwritten when another one is queried.
// run: => UNKNOWN
// run: -DONCE => TRUE
// run: -DLATEST => TRUE
#include "../verify.h"
#include <pwd.h>

int main(void) {
    struct passwd *user = getpwuid(0);
    if (!user)
        return 1;
    char *name = user->pw_name, first = *name;
#if defined(LATEST)
    user = getpwuid(1);
    if (!user)
        return 1;
    name = user->pw_name;
    first = *name;
#elif !defined(ONCE)
    getpwuid(1);
#endif
    check(*name == first);
    return 0;
}
