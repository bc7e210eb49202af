/* A parser of sums and products of digits with parentheses, of N characters. */
extern char __VERIFIER_nondet_char(void);
extern void reach_error(void);
#ifndef N
#define N 6
#endif

static char s[N + 1];
static int at, bad, depth;

static int sum(void);

static int factor(void) {
    if (s[at] >= '0' && s[at] <= '9')
        return s[at++] - '0';
    if (s[at] == '(') {
        at++;
        depth++;
        int value = sum();
        depth--;
        if (s[at] != ')')
            bad = 1;
        else
            at++;
        return value;
    }
    bad = 1;
    return 0;
}

static int product(void) {
    int value = factor();
    while (!bad && s[at] == '*') {
        at++;
        value *= factor();
    }
    return value;
}

static int sum(void) {
    int value = product();
    while (!bad && (s[at] == '+' || s[at] == '-')) {
        int is_plus = s[at++] == '+', other = product();
        value = is_plus ? value + other : value - other;
    }
    return value;
}

int main(void) {
    for (int i = 0; i < N; i++)
        s[i] = __VERIFIER_nondet_char();
    sum();
    if (depth != 0 || at > N)
        reach_error();
    return 0;
}
