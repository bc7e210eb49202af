// run: --analysis invariants => TRUE
// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"

/* Two to the power of an argument, in a result and in a global. */
static int moves;
static void move(int n) {
    if (n == 0) return;
    move(n - 1);
    moves++;
    move(n - 1);
}
static int expected(int n) {
    if (n == 1) return 1;
    return expected(n - 1) * 2 + 1;
}
int main(void) {
    int n = __VERIFIER_nondet_int();
    if (n < 1 || n > 30) return 0;
    moves = 0;
    move(n);
#ifdef BUG
    check(moves != 7); // wrong
#else
    check(moves == expected(n));
#endif
    return 0;
}
