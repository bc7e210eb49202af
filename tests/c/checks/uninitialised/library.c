// run: --check memory => TRUE
// run: --check memory -DBUG=1 => FALSE(memory)
// run: --check memory -DBUG=2 => FALSE(memory)
// run: --check memory -DBUG=3 => FALSE(memory)
// run: --check memory -DBUG=4 => FALSE(memory)
// run: --check memory -DBUG=5 => FALSE(memory)
// run: --check memory -DBUG=6 => FALSE(memory)
// run: --check memory -DBUG=7 => FALSE(memory)
// Reads by the library, and results of the library.
#include "../../verify.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef BUG
#define BUG 0
#endif

static int ascending(const void *a, const void *b) {
    if (*(const int *)a > *(const int *)b) // wrong
        return 1;
    return -1;
}

int main(void) {
    char text[8];
    text[0] = 'a';
    if (BUG != 1)
        text[1] = 0;
    if (strlen(text) == 3) // wrong
        return 0;

    int shown;
    if (BUG != 2)
        shown = 1;
    printf("%d\n", shown); // wrong

    char copy[8];
    strcpy(copy, text);
    if (copy[BUG == 3 ? 2 : 1]) // wrong
        return 0;

    char line[4];
    if (!fgets(line, sizeof line, stdin) && BUG != 4)
        line[0] = 0;
    if (line[0] == 'x') // wrong
        return 0;

    int numbers[3] = {3, 1};
    int some[3];
    some[0] = 2;
    if (BUG != 5)
        some[1] = 1;
    qsort(numbers, 3, sizeof *numbers, ascending);
    if (numbers[0] != 0)
        return 0;
    qsort(some, 2, sizeof *some, ascending);
    if (some[0] == 7) // wrong
        return 0;

    int read;
    if (sscanf(text, "%d", &read) == 1 || BUG == 6)
        if (read == 3) // wrong
            return 0;

    int letter;
    if (BUG != 7)
        letter = 'a';
    if (isalpha(letter)) // wrong
        return 0;
    return 0;
}
