/* Counts lines, words and characters of files or of standard input. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int show_lines, show_words, show_bytes;
static long total_lines, total_words, total_bytes;

static void show(long lines, long words, long bytes, const char *name)
{
    if (show_lines)
        printf(" %ld", lines);
    if (show_words)
        printf(" %ld", words);
    if (show_bytes)
        printf(" %ld", bytes);
    if (name)
        printf(" %s", name);
    putchar('\n');
}

static void count(FILE *f, const char *name)
{
    long lines = 0, words = 0, bytes = 0;
    int c, in_word = 0;
    while ((c = getc(f)) != EOF) {
        bytes++;
        if (c == '\n')
            lines++;
        if (isspace(c)) {
            in_word = 0;
        } else if (!in_word) {
            in_word = 1;
            words++;
        }
    }
    show(lines, words, bytes, name);
    total_lines += lines;
    total_words += words;
    total_bytes += bytes;
}

int main(int argc, char **argv)
{
    int option, status = 0;
    while ((option = getopt(argc, argv, "lwc")) != -1) {
        switch (option) {
        case 'l': show_lines = 1; break;
        case 'w': show_words = 1; break;
        case 'c': show_bytes = 1; break;
        default:
            fprintf(stderr, "usage: wc [-lwc] [file ...]\n");
            return 2;
        }
    }
    if (!show_lines && !show_words && !show_bytes)
        show_lines = show_words = show_bytes = 1;
    if (optind == argc)
        count(stdin, NULL);
    for (int i = optind; i < argc; i++) {
        FILE *f = strcmp(argv[i], "-") ? fopen(argv[i], "r") : stdin;
        if (!f) {
            perror(argv[i]);
            status = 1;
            continue;
        }
        count(f, argv[i]);
        if (f != stdin)
            fclose(f);
    }
    if (argc - optind > 1)
        show(total_lines, total_words, total_bytes, "total");
    return status;
}
