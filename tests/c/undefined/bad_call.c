// run: --slicing off => UNKNOWN
// run: --slicing off --analysis k-induction => UNKNOWN
// A call through a pointer that points to no function.
#include "../verify.h"

int main(void) {
    void (*f)(void) = 0;
    f();
    check(0);
    return 0;
}
