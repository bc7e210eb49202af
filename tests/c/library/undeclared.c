// An undeclared function with variable arguments: the arguments after its parameters are found as usual.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: --check address => TRUE
// run: --32 => TRUE
#include <stdlib.h>
#include "../verify.h"

int main(void) {
    char *text;
    // Without _GNU_SOURCE <stdio.h> does not declare it.
    int used = asprintf(&text, "%d%c", 7, 'x');
    if (used < 0)
        return 0;
#ifdef BUG
    if (text[1] == 'x')
        reach_error(); // wrong
#else
    if (used != 2 || text[0] != '7' || text[1] != 'x')
        reach_error();
#endif
    free(text);
    return 0;
}
