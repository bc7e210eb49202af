// run: => UNKNOWN
// run: --undefined-functions any-value => TRUE
// run: --undefined-functions any-value -DBUG => FALSE(unreach-call)
// native: no
// What is declared with other parameters than a function of the library has, or called with too few, only has its name.
#include "../verify.h"

extern int wait(int seconds, int fraction);
extern int poll();
extern void error(void);

int main(void) {
    int rounds = 0;
    while (rounds < 3 && wait(1, rounds) > 0)
        rounds++;
    check(rounds <= 3);
    if (poll() == 7)
        error();
#ifdef BUG
    check(rounds != 2); // wrong
#endif
    return 0;
}
