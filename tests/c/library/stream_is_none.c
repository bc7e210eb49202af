// run: --check address -DWHAT=1 => FALSE(address)
// run: --check address -DWHAT=2 => FALSE(address)
// run: --check address -DWHAT=3 => FALSE(address)
// run: --check address -DWHAT=4 => FALSE(address)
// run: --check address -DWHAT=5 => FALSE(address)
// run: --check address -DWHAT=0 => TRUE
// native: unseen
// An argument for a stream must be an open stream of the library. The functions here make no other call that the models
// check.
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    FILE *file = tmpfile();
    if (!file)
        return 1;
    FILE *none = WHAT == 1 ? malloc(1000) : WHAT == 2 ? calloc(1000, 1) : file;
    if (!none)
        return 1;
    if (WHAT == 1)
        fputc('a', none); // wrong
    if (WHAT == 2)
        return fgetc(none); // wrong
    FILE copy;
    if (WHAT == 3) {
        copy = *file; // wrong
        fputc('a', &copy);
    }
    if (WHAT == 4)
        fputc('a', (FILE *)12345678); // wrong
    fputc('a', stdout);
    fputc('a', file);
    fclose(file);
    if (WHAT == 5)
        fputc('b', file); // wrong
    return 0;
}
