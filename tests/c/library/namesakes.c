// run: => UNKNOWN
// run: --undefined-functions any-value => TRUE
// run: --undefined-functions any-value -DBUG => FALSE(unreach-call)
// native: no
// A function that is declared with other parameters than the library's, or called with too few arguments, only shares its name.
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
