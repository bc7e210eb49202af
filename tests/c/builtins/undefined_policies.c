// run: => UNKNOWN
// run: --undefined-functions any-value => FALSE(unreach-call)
// run: --undefined-functions any-value -DHOLDS => TRUE
// run: --undefined-functions any-effect -DHOLDS => FALSE(unreach-call)
// run: --undefined-functions any-effect -DHOLDS -DCONSTANT => TRUE
// run: --undefined-functions fail -DHOLDS => FALSE(unreach-call)
// run: --undefined-functions stubs.inc.c => TRUE
// native: no
// The behaviour of undefined functions. With any-effect, a harness does not reproduce their writes.
#include "../verify.h"

#ifdef CONSTANT
#define ONLY_READ const
#else
#define ONLY_READ
#endif

struct pair {
    int first, second;
};
long measure(int x);
void inspect(ONLY_READ struct pair *p);

int main(void) {
    struct pair pair = {1, 2};
    int kept = 3;
    inspect(&pair); // wrong
    check(kept == 3);
#ifdef HOLDS
    check(pair.first == 1 && pair.second == 2); // wrong
#else
    check(measure(5) != 7000000000); // wrong
#endif
    return 0;
}
