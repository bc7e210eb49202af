// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// White space in a format skips that of the input, so the next character is none.
#include "../verify.h"
#include <stdio.h>

int main(void) {
    char c;
#ifdef BUG
    check(scanf("%c", &c) != 1 || c != ' '); // wrong
#else
    check(scanf(" %c", &c) != 1 || c != ' ');
#endif
    return 0;
}
