/* Copies files to standard output, with numbers of lines on request. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int number, squeeze;
static unsigned line = 1;

static void copy(FILE *in)
{
    int c, at_start = 1, empty = 0;
    while ((c = fgetc(in)) != EOF) {
        if (at_start) {
            if (c == '\n' && squeeze) {
                if (empty)
                    continue;
                empty = 1;
            } else {
                empty = 0;
            }
            if (number)
                printf("%6u\t", line++);
        }
        putchar(c);
        at_start = c == '\n';
    }
}

int main(int argc, char **argv)
{
    int status = EXIT_SUCCESS, i = 1;
    for (; i < argc && argv[i][0] == '-' && argv[i][1]; i++) {
        if (!strcmp(argv[i], "--")) {
            i++;
            break;
        }
        for (const char *o = argv[i] + 1; *o; o++) {
            if (*o == 'n')
                number = 1;
            else if (*o == 's')
                squeeze = 1;
            else {
                fprintf(stderr, "%s: bad option -%c\n", argv[0], *o);
                return EXIT_FAILURE;
            }
        }
    }
    if (i == argc)
        copy(stdin);
    for (; i < argc; i++) {
        if (!strcmp(argv[i], "-")) {
            copy(stdin);
            continue;
        }
        FILE *f = fopen(argv[i], "rb");
        if (!f) {
            fprintf(stderr, "%s: %s: %s\n", argv[0], argv[i], strerror(errno));
            status = EXIT_FAILURE;
            continue;
        }
        copy(f);
        fclose(f);
    }
    return status;
}
