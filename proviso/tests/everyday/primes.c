/* Prints the primes up to a limit, or the factors of a number. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long number(const char *text)
{
    char *end;
    errno = 0;
    unsigned long value = strtoul(text, &end, 10);
    if (errno == ERANGE) {
        fprintf(stderr, "%s: too large\n", text);
        exit(1);
    }
    if (end == text || *end) {
        fprintf(stderr, "%s: not a number\n", text);
        exit(1);
    }
    return value;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "factor") == 0) {
        unsigned long n = number(argv[2]);
        if (n < 2 || n > 1000000) {
            puts("nothing to do");
            return 0;
        }
        for (unsigned long d = 2; d * d <= n; d++) {
            while (n % d == 0) {
                printf("%lu ", d);
                n /= d;
            }
        }
        if (n > 1)
            printf("%lu", n);
        putchar('\n');
        return 0;
    }
    if (argc != 2) {
        fprintf(stderr, "usage: primes LIMIT | primes factor NUMBER\n");
        return 2;
    }
    unsigned long limit = number(argv[1]);
    if (limit > 10000)
        limit = 10000;
    char *composite = calloc(limit + 1, 1);
    if (!composite) {
        perror("primes");
        return 1;
    }
    for (unsigned long i = 2; i <= limit; i++) {
        if (composite[i])
            continue;
        printf("%lu\n", i);
        for (unsigned long j = i * i; j <= limit; j += i)
            composite[j] = 1;
    }
    free(composite);
    return 0;
}
