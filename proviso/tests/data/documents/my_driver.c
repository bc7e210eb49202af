// A driver of the user, which is not in the project.
#include "ring.h"

extern int __VERIFIER_nondet_int(void);
extern void __VERIFIER_assume(int);
extern void reach_error(void);

int main(void) {
    int slot = __VERIFIER_nondet_int();
    __VERIFIER_assume(0 <= slot && slot < 8);
    if (next_slot(slot, 8) >= 8)
        reach_error();
    return 0;
}
