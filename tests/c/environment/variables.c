// run: -DBUG => FALSE(unreach-call)
#include "../verify.h"
#include <stdlib.h>
#include <string.h>

int main(void) {
    const char *home = getenv("HOME"), *term = getenv("TERM"), *again = getenv("HOME");
    if (!home || !again || term)
        return 1;
    check(strlen(home) < 131072);
    wrong(strcmp(home, "a\"b") != 0 || again[0] != 'a' || again[1] != '"' || again[2] != 'b' || again[3]);
    return 0;
}
