/* Makes the folders and files of a new project. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder(const char *path)
{
    struct stat s;
    if (stat(path, &s) == 0) {
        if (S_ISDIR(s.st_mode))
            return 0;
        fprintf(stderr, "%s is a file\n", path);
        return -1;
    }
    if (mkdir(path, 0777) != 0) {
        fprintf(stderr, "%s: %s\n", path, strerror(errno));
        return -1;
    }
    return 1;
}

int main(int argc, char **argv)
{
    char path[40];
    if (argc != 2) {
        fprintf(stderr, "usage: newproject NAME\n");
        return 2;
    }
    const char *name = argv[1];
    if (strlen(name) > 16 || strchr(name, '/') || name[0] == '.' || name[0] == '\0') {
        fprintf(stderr, "bad name\n");
        return 2;
    }
    int made = folder(name);
    if (made < 0)
        return 1;
    snprintf(path, sizeof path, "%s/src", name);
    if (folder(path) < 0)
        return 1;
    snprintf(path, sizeof path, "%s/src/main.c", name);
    if (access(path, F_OK) == 0) {
        puts("main.c exists");
        return 0;
    }
    FILE *f = fopen(path, "w");
    if (f == NULL)
        return 1;
    fputs("int main(void) { return 0; }\n", f);
    fclose(f);
    puts(made ? "made" : "updated");
    return 0;
}
