// An argument for a stream must be a stream.
// run: --check address => TRUE
// run: --check address -DBUG=1 => FALSE(address)
// run: --check address -DBUG=2 => FALSE(address)
// run: --check address -DBUG=3 => FALSE(address)
// run: --check address -DBUG=4 => FALSE(address)
// run: --check address -DBUG=5 => FALSE(address)
// run: => TRUE
// native: unseen
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    FILE *stream = fopen("name", "r");
    char line[8];
    int lines = 0;
    if (!stream)
        return 1;
#if BUG == 1
    fclose(malloc(300)); // wrong
#elif BUG == 2
    static char memory[400];
    fputs("text", (FILE *)memory); // wrong
#elif BUG == 3
    FILE copy;
    if (__VERIFIER_nondet_int() == 7)
        fprintf(&copy, "text %d\n", lines); // wrong
#elif BUG == 4
    if (fgetc(stream) == 'x')
        fclose(stream);
#endif
    while (lines < 2 && fgets(line, sizeof line, stream)) // wrong
        lines++;
    fprintf(stdout, "%d lines\n", lines);
    if (feof(stream) || ferror(stream))
        rewind(stream);
    FILE *where[2] = {stdout, stream};
    fputc('.', where[lines > 1]);
    fclose(stream);
#if BUG == 5
    fclose(stream); // wrong
#endif
    return 0;
}
