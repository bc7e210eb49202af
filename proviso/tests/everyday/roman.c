/* Converts numbers to Roman numerals and back. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const struct { int value; const char *numeral; } table[] = {
    {1000, "M"}, {900, "CM"}, {500, "D"}, {400, "CD"}, {100, "C"}, {90, "XC"}, {50, "L"},
    {40, "XL"}, {10, "X"}, {9, "IX"}, {5, "V"}, {4, "IV"}, {1, "I"},
};

static void to_roman(int n, char *out)
{
    *out = '\0';
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        while (n >= table[i].value) {
            strcat(out, table[i].numeral);
            n -= table[i].value;
        }
}

static int digit(int c)
{
    switch (toupper(c)) {
    case 'I': return 1;
    case 'V': return 5;
    case 'X': return 10;
    case 'L': return 50;
    case 'C': return 100;
    case 'D': return 500;
    case 'M': return 1000;
    }
    return -1;
}

static int from_roman(const char *s)
{
    int total = 0;
    for (; *s; s++) {
        int here = digit((unsigned char)*s);
        if (here < 0)
            return -1;
        int next = s[1] ? digit((unsigned char)s[1]) : 0;
        if (here < next)
            total -= here;
        else
            total += here;
    }
    return total;
}

int main(int argc, char **argv)
{
    int status = 0;
    for (int i = 1; i < argc; i++) {
        if (isdigit((unsigned char)argv[i][0])) {
            int n = atoi(argv[i]);
            char text[32];
            if (n < 1 || n > 3999) {
                printf("%s: out of range\n", argv[i]);
                status = 1;
                continue;
            }
            to_roman(n, text);
            printf("%d = %s\n", n, text);
        } else {
            int n = from_roman(argv[i]);
            if (n < 0) {
                printf("%s: not a numeral\n", argv[i]);
                status = 1;
            } else {
                char again[32];
                if (n > 0 && n < 4000) {
                    to_roman(n, again);
                    if (strcasecmp(again, argv[i]) != 0)
                        printf("%s should be %s\n", argv[i], again);
                }
                printf("%s = %d\n", argv[i], n);
            }
        }
    }
    return status;
}
