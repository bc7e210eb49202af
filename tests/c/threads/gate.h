// A program part that random runs hardly ever pass, so that only the exploration of all interleavings finds what follows.
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>

static atomic_int turns;

static void *take_even_turns(void *unused) {
    for (int i = 0; i < 10; i++)
        if (turns == 2 * i)
            turns = 2 * i + 1;
    return NULL;
}

static void *take_odd_turns(void *unused) {
    for (int i = 0; i < 10; i++)
        if (turns == 2 * i + 1)
            turns = 2 * i + 2;
    return NULL;
}

static int pass_gate(void) {
    pthread_t even, odd;
    pthread_create(&even, NULL, take_even_turns, NULL);
    pthread_create(&odd, NULL, take_odd_turns, NULL);
    pthread_join(even, NULL);
    pthread_join(odd, NULL);
    return turns == 20;
}
