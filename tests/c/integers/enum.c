#include "../verify.h"

enum color { RED = 1, GREEN = 5, BLUE, LAST = BLUE };
enum wide { SMALL = -3, HUGE_ONE = 0x7fffffff };

static int code(enum color c) {
    switch (c) {
    case RED: return 10;
    case GREEN: return 20;
    case BLUE: return 30;
    }
    return -1;
}

int main(void) {
    int n = __VERIFIER_nondet_int();
    enum color c = (enum color)n;
    check(code(RED) + code(GREEN) == code(LAST));
    check(n == 1 || n == 5 || n == 6 || code(c) == -1);
    check((enum wide)SMALL < 0);
    wrong(code(c) != 30);
    return 0;
}
