/* Prints the lines that match a pattern with ^ $ . and *, after Pike. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

static int ignore_case;

static int same(int a, int b)
{
    if (ignore_case)
        return tolower(a) == tolower(b);
    return a == b;
}

static int match_here(const char *pattern, const char *text);

static int match_star(int c, const char *pattern, const char *text)
{
    do {
        if (match_here(pattern, text))
            return 1;
    } while (*text && (c == '.' || same(c, *text)) && *text++);
    return 0;
}

static int match_here(const char *pattern, const char *text)
{
    if (pattern[0] == '\0')
        return 1;
    if (pattern[1] == '*')
        return match_star(pattern[0], pattern + 2, text);
    if (pattern[0] == '$' && pattern[1] == '\0')
        return *text == '\0';
    if (*text && (pattern[0] == '.' || same(pattern[0], *text)))
        return match_here(pattern + 1, text + 1);
    return 0;
}

static int match(const char *pattern, const char *text)
{
    if (pattern[0] == '^')
        return match_here(pattern + 1, text);
    do {
        if (match_here(pattern, text))
            return 1;
    } while (*text++);
    return 0;
}

int main(int argc, char **argv)
{
    int invert = 0, count_only = 0, count = 0;
    while (argc > 1 && argv[1][0] == '-') {
        if (strcmp(argv[1], "-v") == 0)
            invert = 1;
        else if (strcmp(argv[1], "-i") == 0)
            ignore_case = 1;
        else if (strcmp(argv[1], "-c") == 0)
            count_only = 1;
        else
            return 2;
        argc--;
        argv++;
    }
    if (argc != 2) {
        fputs("usage: match [-v] [-i] [-c] pattern\n", stderr);
        return 2;
    }
    char line[80];
    while (fgets(line, sizeof line, stdin)) {
        line[strcspn(line, "\n")] = '\0';
        if (match(argv[1], line) != invert) {
            count++;
            if (!count_only)
                puts(line);
        }
    }
    if (count_only)
        printf("%d\n", count);
    return count == 0;
}
