// run: --error-function die => FALSE(unreach-call)
// run: --error-function live => TRUE
// run: => TRUE
#include "../verify.h"

void die(const char *why) { (void)why; abort(); }
void live(void) {}

int main(void) {
    if (__VERIFIER_nondet_int() == 1234567)
        die("it is wrong");
    return 0;
}
