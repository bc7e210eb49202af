// Evaluation order that C fixes: &&, ||, the comma, ?:.
#include "../verify.h"

static int count;
static int bump(int value) {
    count++;
    return value;
}

int main(void) {
    int x = __VERIFIER_nondet_int();
    int r = (bump(0), bump(x));
    check(r == x && count == 2);
    count = 0;
    if ((x > 0 && bump(x) > 10) || bump(0))
        check(x > 10 && count == 1);
    else
        check(x <= 10);
    check((x ? x : bump(7)) != 0);
    int a = x++ , b = ++x;
    check(b - a == 2 || a > 2147483645);
    wrong(count != 2);
    return 0;
}
