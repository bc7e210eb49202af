// A function of old C that is called with a narrower argument than its parameter: the expression of the function must not be inlined unchanged.
// run: --property unreach-call => TRUE
// run: --property unreach-call -DBUG => FALSE(unreach-call)
// run: --property unreach-call --analysis symex-accelerated => TRUE
#include "../verify.h"

long next();

int main(void) {
    unsigned i = 0;
    while (i < 300)
        i = next((int)i);
    check(i == 300);
    wrong(i != 300);
    return 0;
}

long next(x) long x;
{
    return x + 2;
}
