/* Drops repeated lines of standard input. */
#include <stdio.h>
#include <string.h>

static void show(const char *line, int times, char mode)
{
    switch (mode) {
    case 'c':
        printf("%4d %s", times, line);
        break;
    case 'd':
        if (times > 1)
            fputs(line, stdout);
        break;
    case 'u':
        if (times == 1)
            fputs(line, stdout);
        break;
    default:
        fputs(line, stdout);
    }
}

int main(int argc, char **argv)
{
    char line[100], previous[100], mode = 0;
    int times = 0;
    if (argc > 2) {
        fprintf(stderr, "usage: uniq [-c | -d | -u]\n");
        return 1;
    }
    if (argc == 2) {
        if (argv[1][0] != '-' || !strchr("cdu", argv[1][1]) || argv[1][1] == '\0')
            return 1;
        mode = argv[1][1];
    }
    while (fgets(line, sizeof line, stdin) != NULL) {
        if (times > 0 && strcmp(line, previous) == 0) {
            times++;
            continue;
        }
        if (times > 0)
            show(previous, times, mode);
        strcpy(previous, line);
        times = 1;
    }
    if (times > 0)
        show(previous, times, mode);
    return 0;
}
