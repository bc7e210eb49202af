// run: => TRUE
// run: --check address -DBUG => FALSE(address)
// Reads lines of any length into one buffer.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t room = 0, lines = 0, longest = 0;
    ssize_t length;
    while ((length = getline(&line, &room, stdin)) != -1) {
#ifdef BUG
        if (line[length - 1] == '\n')
            line[room] = 0; // wrong
#else
        if (length > 0 && line[length - 1] == '\n')
            line[--length] = 0;
#endif
        if ((size_t)length > longest)
            longest = length;
        lines++;
    }
    printf("%zu %zu\n", lines, longest);
    free(line);
    return 0;
}
