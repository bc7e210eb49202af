// run: --malloc-may-fail -DWRONG=1 => FALSE(unreach-call)
// run: --malloc-may-fail -DWRONG=0 => TRUE
// run: -DWRONG=1 => TRUE
// native: no
// If there is no memory for %m, scanf does not read the input. A harness cannot make the library's scanf fail.
#define _GNU_SOURCE
#include "../verify.h"
#include <stdio.h>
#include <stdlib.h>

int main(void) {
    char *text = "unset";
    int n = 0, items = sscanf("5 abc", "%d %ms", &n, &text);
    check(n == 5);
    if (WRONG)
        check(items == 2); // wrong
    check((items == 2 && text) || (items == EOF && !text));
    free(text);
    // Without memory, nothing is read.
    check(sscanf("abc", "%*ms") == 0);
    return 0;
}
