// run: --automaton file => TRUE
// run: --automaton heap => TRUE
// run: --automaton mutex -DMUTEX => TRUE
// run: --automaton file -DTWICE => FALSE(file)
// run: --automaton heap -DKEPT => FALSE(heap)
// run: --automaton mutex -DMUTEX -DUNLOCKED => FALSE(mutex)
// native: unseen
// Streams of other functions than `fopen`, at addresses of closed streams; memory of other functions than `malloc`, freed by `realloc`; waiting for
// condition variables.
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t full = PTHREAD_COND_INITIALIZER;

static void streams(void) {
    FILE *f = fopen("a", "r");
    FILE *g = f ? freopen("b", "r", f) : 0;
    if (g) {
        fgetc(g);
        fclose(g);
    }
    f = popen("ls", "r");
    if (f) {
        fgetc(f);
        pclose(f);
#ifdef TWICE
        pclose(f); // wrong
#endif
    }
}

static void memory(void) {
    int *numbers = reallocarray(0, 3, sizeof *numbers);
    if (numbers)
        numbers[2] = 1;
    free(numbers);
    char *none = malloc(10);
#ifndef KEPT
    none = none ? realloc(none, 0) : 0;
#endif
}

int main(void) { // wrong
    streams();
    memory();
#ifdef MUTEX
#ifndef UNLOCKED
    pthread_mutex_lock(&lock);
#endif
    pthread_cond_wait(&full, &lock); // wrong
    pthread_mutex_unlock(&lock);
#endif
    return 0;
}
