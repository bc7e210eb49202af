// run: --automaton heap => TRUE
// run: --automaton heap -DTWICE => FALSE(heap)
// run: --automaton heap -DLEAK => FALSE(heap)
// run: --automaton heap -DSTACK => FALSE(heap)
// native: unseen
// Memory that is allocated through an argument: the function sets a pointer, or gets a pointer and may replace it.
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>

static char local[4];

int main(void) { // with LEAK wrong: an object that is left at the end is reported here
    char *line = NULL, *text, *name;
    size_t size = 0;
    void *aligned;
    getline(&line, &size, stdin);
#ifndef LEAK
    free(line);
#endif
    if (asprintf(&text, "%s", "some") >= 0) {
        free(text);
#ifdef TWICE
        free(text); // wrong
#endif
    }
    if (posix_memalign(&aligned, 16, 4) == 0)
        free(aligned);
#ifdef STACK
    name = local;
    free(name); // wrong
#endif
    name = malloc(3);
    size = 3;
    getdelim(&name, &size, ';', stdin);
    free(name);
    return 0;
}
