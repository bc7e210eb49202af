// run: => UNKNOWN
// run: --analysis symex => UNKNOWN
// An undefined function with parameters is no input, whatever its name.
#include "../verify.h"

int nondet_int(int *where);

int main(void) {
    int x = 0;
    nondet_int(&x);
    check(x == 0);
    return 0;
}
