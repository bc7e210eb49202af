/* libbsd: lines of a file, with comments and continuations. */
#include <stdio.h>
#include <stdlib.h>

extern char *fparseln(FILE *, size_t *, size_t *, const char[3], int);

int main(void) {
    FILE *file = fopen("settings", "r");
    if (file == NULL)
        return 1;
    size_t length, number = 0;
    char *line = fparseln(file, &length, &number, NULL, 0);
    free(line);
    fclose(file);
    return 0;
}
