// Strings and the library's functions for them; variadic functions; input.
#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void criterion(int place, long value);

static char log_text[256];

static void note(const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(log_text, sizeof log_text, format, args);
    va_end(args);
}

static long sum(int count, ...) {
    va_list args;
    long total = 0;
    va_start(args, count);
    while (count-- > 0)
        total += va_arg(args, int);
    va_end(args);
    return total;
}

static int words(const char *text) {
    int count = 0, inside = 0;
    for (; *text; text++) {
        int now = isalpha((unsigned char)*text) != 0;
        count += now && !inside;
        inside = now;
    }
    return count;
}

int main(void) {
    char buffer[64], other[64] = "unrelated";
    strcpy(buffer, "the quick brown fox");
    criterion(1, words(buffer));
    strcat(other, " text");
    note("%d-%s", 42, other);
    char *space = strchr(buffer, ' ');
    *space = 0;
    criterion(2, strlen(buffer) * 100 + strlen(space + 1));
    criterion(3, sum(3, 10, 20, atoi("12")));
    criterion(4, log_text[3]);
    long number = strtol("  -77xyz", &space, 10);
    criterion(5, number + *space);
    int first = getchar();
    int second = getchar();
    printf("ignored %d\n", first);
    criterion(6, second);
    char line[32];
    if (fgets(line, sizeof line, stdin))
        criterion(7, strlen(line));
    int x = 0, y = 0;
    if (fgets(line, sizeof line, stdin) && sscanf(line, "%d %d", &x, &y) == 2)
        criterion(8, x * 1000 + y);
    char *token = strtok(buffer + 4, " ");
    token = strtok(NULL, " ");
    criterion(9, token ? token[0] : -1);
    return 0;
}
