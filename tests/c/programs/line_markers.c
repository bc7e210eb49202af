// Lines and files set by `#line`.
// line: 16
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

int main(void) {
    int x = __VERIFIER_nondet_int();
#line 15 "line_markers.c"
    if (x == 3)
        wrong(0);
    return 0;
}
