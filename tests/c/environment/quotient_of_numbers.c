// The smallest number divided by -1 does not fit. Only arguments of certain forms reach the division.
// run: --property no-overflow => FALSE(no-overflow)
#include "../verify.h"
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

static int parse(const char *text, int *out) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    if (errno != 0 || *end != '\0' || end == text)
        return -1;
    if (value > INT_MAX || value < INT_MIN)
        return -1;
    *out = (int)value;
    return 0;
}

int main(int argc, char **argv) {
    int a, b;
    if (argc != 3 || parse(argv[1], &a) || parse(argv[2], &b)) {
        fprintf(stderr, "usage: %s A B\n", argv[0]);
        return 1;
    }
    if (b == 0)
        return 1;
    printf("%d / %d = %d\n", a, b, a / b); // wrong
    return 0;
}
