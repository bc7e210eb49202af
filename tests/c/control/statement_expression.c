#include "../verify.h"

#define max(a, b) ({ __typeof__(a) a_ = (a); __typeof__(b) b_ = (b); a_ > b_ ? a_ : b_; })

int main(void) {
    int x = __VERIFIER_nondet_int(), y = __VERIFIER_nondet_int();
    int m = max(x, y);
    check(m >= x && m >= y && (m == x || m == y));
    int n = ({ int t = 0; for (int i = 0; i < 4; i++) t += i; t; });
    check(n == 6);
    check((x ?: 5) != 0);
    wrong(max(max(x, y), 10) != 10 || x != 3);
    return 0;
}
