/* Prints the first lines of standard input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    long lines = 10;
    if (argc == 3 && strcmp(argv[1], "-n") == 0) {
        char *end;
        lines = strtol(argv[2], &end, 10);
        if (end == argv[2] || *end != '\0') {
            fprintf(stderr, "head: '%s' is no number\n", argv[2]);
            return 1;
        }
        if (lines < 0) {
            fprintf(stderr, "head: negative\n");
            return 1;
        }
    } else if (argc != 1) {
        fprintf(stderr, "usage: head [-n lines]\n");
        return 2;
    }
    int c;
    while (lines > 0 && (c = getchar()) != EOF) {
        putchar(c);
        if (c == '\n')
            lines--;
    }
    return 0;
}
