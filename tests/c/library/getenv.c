#include "../verify.h"
#include <stdlib.h>

int main(void) {
    const char *home = getenv("HOME");
    if (!home)
        return 0;
    check(home != 0);
    wrong(home[0] != 'h');
    return 0;
}
