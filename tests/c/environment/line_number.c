// native: no
// run: --cpu-limit 8 --property unreach-call => TRUE
// run: --cpu-limit 8 --property unreach-call -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>

/* A number in a line of input: eleven characters are at most eleven digits. */
int main(void) {
    char line[12], *end;
    if (!fgets(line, sizeof line, stdin))
        return 0;
    long value = strtol(line, &end, 10);
    check(value <= 99999999999 && end - line <= 11);
#ifdef BUG
    check(value != -317 || *end != 'x'); // wrong
#endif
    return 0;
}
