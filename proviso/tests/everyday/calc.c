/* Evaluates arithmetic expressions, one on each line of standard input. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

static const char *p;
static int failed;

static long expression(void);

static void skip_blanks(void)
{
    while (*p == ' ' || *p == '\t')
        p++;
}

static long factor(void)
{
    skip_blanks();
    if (*p == '(') {
        p++;
        long value = expression();
        skip_blanks();
        if (*p == ')')
            p++;
        else
            failed = 1;
        return value;
    }
    if (*p == '-') {
        p++;
        return -factor();
    }
    if (!isdigit((unsigned char)*p)) {
        failed = 1;
        return 0;
    }
    long value = 0;
    while (isdigit((unsigned char)*p)) {
        if (value > 100000)
            failed = 1;
        else
            value = value * 10 + (*p - '0');
        p++;
    }
    return value;
}

static long term(void)
{
    long value = factor();
    for (;;) {
        skip_blanks();
        if (*p == '*') {
            p++;
            value = (long)((unsigned long)value * (unsigned long)factor());
        } else if (*p == '/') {
            p++;
            long divisor = factor();
            if (divisor == 0) {
                failed = 1;
                return 0;
            }
            value /= divisor == -1 ? 1 : divisor;
        } else {
            return value;
        }
    }
}

static long expression(void)
{
    long value = term();
    for (;;) {
        skip_blanks();
        if (*p == '+') {
            p++;
            value = (long)((unsigned long)value + (unsigned long)term());
        } else if (*p == '-') {
            p++;
            value = (long)((unsigned long)value - (unsigned long)term());
        } else {
            return value;
        }
    }
}

int main(void)
{
    char line[256];
    int status = 0;
    while (fgets(line, sizeof line, stdin)) {
        p = line;
        failed = 0;
        long value = expression();
        if (failed || (*p != '\n' && *p != '\0')) {
            printf("error at '%s'", p);
            status = 1;
        } else {
            printf("%ld\n", value);
        }
    }
    return status;
}
