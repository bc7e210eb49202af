#include "../verify.h"
#include <stdlib.h>

static int state;
static void stop(int how) {
    if (how == 0)
        abort();
    if (how == 1)
        exit(3);
    if (how == 2)
        _Exit(4);
    state = how;
}

int main(void) {
    int how = __VERIFIER_nondet_int();
    stop(how);
    check(how < 0 || how > 2);
    wrong(state != 7);
    return 0;
}
