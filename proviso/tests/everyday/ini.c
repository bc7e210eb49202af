/* Reads settings from an .ini file, whose path is in a variable or a default. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct settings {
    int port;
    int verbose;
    char host[32];
};

static char *strip(char *s)
{
    while (isspace((unsigned char)*s))
        s++;
    char *end = s + strlen(s);
    while (end > s && isspace((unsigned char)end[-1]))
        *--end = '\0';
    return s;
}

static int set(struct settings *all, const char *section, const char *key, const char *value)
{
    if (strcmp(section, "server") == 0) {
        if (strcmp(key, "port") == 0) {
            all->port = atoi(value);
            return all->port > 0 && all->port < 65536;
        }
        if (strcmp(key, "host") == 0) {
            if (strlen(value) >= sizeof all->host)
                return 0;
            strcpy(all->host, value);
            return 1;
        }
        return 0;
    }
    if (strcmp(section, "log") == 0 && strcmp(key, "verbose") == 0) {
        all->verbose = strcmp(value, "yes") == 0;
        return 1;
    }
    return 0;
}

int main(void)
{
    struct settings all = {80, 0, "localhost"};
    const char *path = getenv("APP_CONFIG");
    if (path == NULL)
        path = "app.ini";
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    char line[128], section[32] = "";
    int number = 0, errors = 0;
    while (fgets(line, sizeof line, f)) {
        char *s = strip(line);
        number++;
        if (*s == '\0' || *s == ';' || *s == '#')
            continue;
        if (*s == '[') {
            char *end = strchr(s, ']');
            if (end == NULL || end - s - 1 >= (long)sizeof section) {
                fprintf(stderr, "%s:%d: bad section\n", path, number);
                errors++;
                continue;
            }
            *end = '\0';
            strcpy(section, s + 1);
            continue;
        }
        char *equals = strchr(s, '=');
        if (equals == NULL) {
            fprintf(stderr, "%s:%d: no value\n", path, number);
            errors++;
            continue;
        }
        *equals = '\0';
        if (!set(&all, section, strip(s), strip(equals + 1))) {
            fprintf(stderr, "%s:%d: unknown\n", path, number);
            errors++;
        }
    }
    fclose(f);
    if (all.verbose)
        printf("listening on %s:%d\n", all.host, all.port);
    return errors > 0;
}
