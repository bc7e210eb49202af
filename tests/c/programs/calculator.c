// run: => TRUE
// run: --check undefined -DBUG => FALSE(integer-divide-by-zero)
// Evaluates lines with arithmetic expressions by recursive descent.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *at;

static unsigned long expression(void);

static void skip(void) {
    while (isspace((unsigned char)*at))
        at++;
}

static void fail(const char *message) {
    fprintf(stderr, "error: %s at '%s'\n", message, at);
    exit(1);
}

static unsigned long primary(void) {
    skip();
    if (*at == '(') {
        at++;
        unsigned long value = expression();
        skip();
        if (*at != ')')
            fail("expected )");
        at++;
        return value;
    }
    if (!isdigit((unsigned char)*at))
        fail("expected a number");
    unsigned long value = 0;
    while (isdigit((unsigned char)*at))
        value = value * 10 + (*at++ - '0');
    return value;
}

static unsigned long term(void) {
    unsigned long value = primary();
    for (skip(); *at == '*' || *at == '/'; skip()) {
        char op = *at++;
        unsigned long right = primary();
        if (op == '*')
            value *= right;
        else {
#ifndef BUG
            if (right == 0)
                fail("division by zero");
#endif
            value /= right; // wrong
        }
    }
    return value;
}

static unsigned long expression(void) {
    unsigned long value = term();
    for (skip(); *at == '+' || *at == '-'; skip()) {
        char op = *at++;
        unsigned long right = term();
        value = op == '+' ? value + right : value - right;
    }
    return value;
}

int main(void) {
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL) {
        at = line;
        skip();
        if (*at != '\0')
            printf("%lu\n", expression());
    }
    return 0;
}
