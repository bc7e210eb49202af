// Functions registered with atexit run when the program ends.
// run: -DBUG => FALSE(unreach-call)
// run: --property termination => TRUE
#include "../verify.h"
#include <stdlib.h>

static int done;
static void last(void) {
    wrong(done != 2);
}
static void before_last(void) { done++; }

int main(void) {
    atexit(last);
    atexit(before_last);
    done = __VERIFIER_nondet_bool();
    return 0;
}
