// A parser of sums: which input evaluates to 42?
#include "../verify.h"

static const char *at;
static int number(void) {
    int n = 0;
    while (*at >= '0' && *at <= '9')
        n = n * 10 + (*at++ - '0');
    return n;
}
static int sum(void) {
    int n = number();
    while (*at == '+' || *at == '-') {
        char op = *at++;
        int m = number();
        n = op == '+' ? n + m : n - m;
    }
    return n;
}

int main(void) {
    char text[6];
    for (int i = 0; i < 5; i++)
        text[i] = __VERIFIER_nondet_char();
    text[5] = 0;
    at = text;
    int n = sum();
    check(at >= text && at <= text + 5);
    check(n <= 99999 && n >= -9999);
    wrong(*at || n != 42 || text[2] != '-');
    return 0;
}
