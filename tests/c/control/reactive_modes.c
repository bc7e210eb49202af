// run: => TRUE
// run: --slicing off => TRUE
// run: --slicing nontermination => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DBUG --slicing nontermination => FALSE(unreach-call)
// A loop that only the error can end: its end depends on the conditions of the error.
#include "../verify.h"

int main(void) {
    int mode = 0, seen = 0;
    unsigned turns = 0;
    for (;;) {
        if (mode == 0)
            mode = __VERIFIER_nondet_bool() ? 1 : 0;
        else if (mode == 1)
            mode = 2, seen = 1;
        else
            mode = 0, seen = 0;
        turns++;
#ifdef BUG
        wrong(mode != 2 || turns < 5);
#endif
        check(mode != 7 && (mode == 2) == seen);
    }
}
