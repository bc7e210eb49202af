/* Sorts the lines of standard input. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 100

static int reverse, numeric;

static int compare(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order;
    if (numeric) {
        double x = atof(left), y = atof(right);
        order = x < y ? -1 : x > y;
    } else {
        order = strcmp(left, right);
    }
    return reverse ? -order : order;
}

int main(int argc, char **argv)
{
    int option, unique = 0;
    while ((option = getopt(argc, argv, "nru")) != -1) {
        if (option == 'n')
            numeric = 1;
        else if (option == 'r')
            reverse = 1;
        else if (option == 'u')
            unique = 1;
        else
            return 2;
    }
    char *lines[MOST], buffer[128];
    int count = 0;
    while (fgets(buffer, sizeof buffer, stdin)) {
        if (count == MOST) {
            fprintf(stderr, "too many lines\n");
            return 1;
        }
        lines[count] = strdup(buffer);
        count++;
    }
    qsort(lines, count, sizeof *lines, compare);
    for (int i = 0; i < count; i++) {
        if (unique && i > 0 && compare(&lines[i - 1], &lines[i]) == 0)
            continue;
        fputs(lines[i], stdout);
    }
    for (int i = 0; i < count; i++)
        free(lines[i]);
    return 0;
}
