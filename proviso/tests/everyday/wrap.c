/* wrap [-w WIDTH] [-i INDENT] [FILE]: fills paragraphs */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int width = 20, indent, column;

static void word(const char *w, int first)
{
    int length = strlen(w);
    if (column > 0 && column + 1 + length > width) {
        putchar('\n');
        column = 0;
    }
    if (column == 0) {
        int spaces = first ? indent : 0;
        for (int i = 0; i < spaces; i++) putchar(' ');
        column = spaces;
    } else {
        putchar(' ');
        column++;
    }
    fputs(w, stdout);
    column += length;
}

int main(int argc, char **argv)
{
    int o;
    while ((o = getopt(argc, argv, "w:i:")) != -1) {
        if (o == 'w') width = atoi(optarg);
        else if (o == 'i') indent = atoi(optarg);
        else return 2;
    }
    if (width < 10 || width > 200 || indent < 0 || indent >= width) {
        fprintf(stderr, "wrap: bad width or indent\n");
        return 2;
    }
    if (optind < argc && freopen(argv[optind], "r", stdin) == NULL) {
        fprintf(stderr, "wrap: cannot read %s\n", argv[optind]);
        return 1;
    }
    char line[256];
    int first = 1;
    while (fgets(line, sizeof line, stdin)) {
        char *w = strtok(line, " \t\n");
        if (w == NULL) {
            if (column > 0) putchar('\n');
            putchar('\n');
            column = 0;
            first = 1;
            continue;
        }
        for (; w; w = strtok(NULL, " \t\n")) {
            word(w, first);
            first = 0;
        }
    }
    if (column) putchar('\n');
    return 0;
}
