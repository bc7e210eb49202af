#include "../verify.h"

static unsigned fact(unsigned n) { return n ? n * fact(n - 1) : 1; }
static int even(unsigned n);
static int odd(unsigned n) { return n ? even(n - 1) : 0; }
static int even(unsigned n) { return n ? odd(n - 1) : 1; }
static int ack(int m, int n) { return m == 0 ? n + 1 : n == 0 ? ack(m - 1, 1) : ack(m - 1, ack(m, n - 1)); }

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() & 7;
    check(fact(5) == 120);
    check(even(n) == (n % 2 == 0) && odd(n) == (n % 2 == 1));
    check(ack(2, 3) == 9);
    wrong(fact(n) != 720);
    return 0;
}
