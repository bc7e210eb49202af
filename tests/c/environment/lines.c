// run: --check address => TRUE
// run: --check address -DSIZES => TRUE
// run: --check address -DBUG=4 => FALSE(address)
// run: --check address -DBUG=6 => FALSE(address)
// `getline` allocates as much as a line needs, or doubles the buffer repeatedly.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

int main(void) {
    size_t size = 2;
    char *line = malloc(size);
    ssize_t read = getline(&line, &size, stdin);
    if (read > 0) {
        line[read - 1] = 'x';
        if (BUG && size == BUG)
            line[size] = 1; // wrong
#ifdef SIZES
        if (size == 3 || (size == 7 && read != 6) || (size == 2 && read > 1) || (size == 8 && read < 4) || size > 2 * (size_t)read)
            line[size] = 1;
#endif
    }
    free(line);
    char *other = NULL;
    size_t room = 0;
    if (getline(&other, &room, stdin) > 0)
        other[100] = 'x';
    free(other);
    return 0;
}
