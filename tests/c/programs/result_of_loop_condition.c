// run: => TRUE
// run: --check address -DBUG => FALSE(address)
// A loop condition assigns the length of a line and compares it.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *line = NULL;
    size_t room = 0;
    ssize_t length;
#ifdef BUG
    while ((length = getline(&line, &room, stdin)) >= -1) {
#else
    while ((length = getline(&line, &room, stdin)) > 0) {
#endif
        if (line[length - 1] == '\n') // wrong
            line[length - 1] = '\0';
    }
    free(line);
    return 0;
}
