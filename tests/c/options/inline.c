// With optimisation, headers of the C library have inline functions that read the content of its streams.
// run: => FALSE(unreach-call)
// run: -O2 => FALSE(unreach-call)
// run: -O2 -DAGAIN => TRUE
// run: -Os -D_FORTIFY_SOURCE=2 => FALSE(unreach-call)
// run: -O2 -D_FORTIFY_SOURCE=2 -DAGAIN => TRUE
// native: no
#define _GNU_SOURCE
#include "../verify.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(void) {
    char text[8];
    strcpy(text, "12");
    if (atoi(text) != 12 || tolower('A') != 'a')
        return 0;
    FILE *file = fopen("file", "r");
    if (file == NULL)
        return 0;
#ifdef AGAIN
    if (feof_unlocked(file))
        reach_error();
#endif
    int c = getc_unlocked(file);
#ifndef AGAIN
    if (c == EOF && feof_unlocked(file))
        reach_error(); // wrong
#endif
    return c;
}
