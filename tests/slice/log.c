// Printed text is irrelevant to criteria, even if it depends on input. Results of printing functions are relevant.
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern void criterion(int place, long value);

static int logged;

static void log_line(const char *format, ...) {
    va_list args;
    va_start(args, format);
    fprintf(stderr, "log %d: ", logged++);
    vfprintf(stderr, format, args);
    va_end(args);
}

int main(void) {
    char line[32], copy[32];
    long sum = 0, printed = 0, lines = 0;
    while (fgets(line, sizeof line, stdin)) {
        log_line("line %ld: %s", lines, line);
        printf("%s", line);
        fputc('+', stderr);
        sum += atoi(line);
        snprintf(copy, sizeof copy, "<%s>", line);
        printed += fprintf(stderr, "%ld %s", lines++, line);
        criterion(1, sum);
        criterion(2, copy[1] + strlen(copy));
        fwrite(copy, 1, strlen(copy), stderr);
        fflush(stdout);
    }
    perror("done");
    criterion(3, printed);
    criterion(4, logged);
    criterion(5, lines);
    return 0;
}
