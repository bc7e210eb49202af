/* Counts the levels of a log: "2024-05-01 12:30:59 WARN disk is full" */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEBUG, INFO, WARN, ERROR, LEVELS };

static const char *names[LEVELS] = {"DEBUG", "INFO", "WARN", "ERROR"};

int main(int argc, char **argv)
{
    const char *path = argc > 1 ? argv[1] : getenv("LOGFILE");
    if (path == NULL) {
        fputs("no log file\n", stderr);
        return 2;
    }
    FILE *log = fopen(path, "r");
    if (log == NULL) {
        fprintf(stderr, "cannot open %s\n", path);
        return 2;
    }
    int counts[LEVELS] = {0}, bad = 0, at_night = 0;
    char line[128];
    while (fgets(line, sizeof line, log) != NULL) {
        int year, month, day, hour, minute, second;
        char level[8];
        if (sscanf(line, "%d-%d-%d %d:%d:%d %7s", &year, &month, &day, &hour, &minute, &second, level) != 7) {
            bad++;
            continue;
        }
        if (hour > 23 || minute > 59 || second > 60) {
            bad++;
            continue;
        }
        int l;
        for (l = 0; l < LEVELS; l++)
            if (strcmp(level, names[l]) == 0)
                break;
        if (l == LEVELS) {
            bad++;
            continue;
        }
        counts[l]++;
        if (l == ERROR && (hour < 6 || hour >= 22))
            at_night++;
    }
    fclose(log);
    for (int l = 0; l < LEVELS; l++)
        if (counts[l])
            printf("%s: %d\n", names[l], counts[l]);
    if (bad)
        printf("%d bad lines\n", bad);
    if (at_night)
        printf("%d errors at night\n", at_night);
    return counts[ERROR] > 0;
}
