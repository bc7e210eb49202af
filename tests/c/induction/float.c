// run: --analysis k-induction => TRUE
// run: --analysis invariants => TRUE
// run: --analysis bmc -DBUG => FALSE(unreach-call)
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* A sum of tenths is no multiple of a tenth. */
int main(void) {
    float x = 0;
    int i = 0;
    while (x < 1.0f) {
        x += 0.1f;
        i++;
    }
#ifdef BUG
    check(i != 10); // wrong
#else
    check(x >= 1.0f);
#endif
    return 0;
}
