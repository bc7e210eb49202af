// run: --property unreach-call -DPUBLISHED => FALSE(unreach-call)
// run: --property unreach-call -DPUBLISHED -DGATE => FALSE(unreach-call)
// run: --property no-data-race -DPUBLISHED -DGATE => FALSE(no-data-race)
// run: --property unreach-call -DSWAPPED -DGATE => FALSE(unreach-call)
// run: --property valid-memsafety -DDEAD => FALSE(valid-deref)
// run: --property valid-memsafety -DLEAK => FALSE(valid-memtrack)
// run: --property valid-memsafety -DFREED => TRUE
// Thread-local variables: other threads may access them by pointers. They end with their thread.
#include "../verify.h"
#include "gate.h"
#include <stdlib.h>

static _Thread_local int own;
static _Thread_local char *kept;
static _Atomic(int *) published;
static int *pointer, counter;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static atomic_int phase;

static void *work(void *argument) {
#if defined PUBLISHED
    published = &own;
    own = 1; // wrong
    if (own != 1) // wrong
        reach_error(); // wrong
#elif defined SWAPPED
    pthread_mutex_lock(&mutex);
    own = ++counter;
    pthread_mutex_unlock(&mutex);
    phase++;
    if (argument && own == 2)
        reach_error(); // wrong
#elif defined DEAD
    pointer = &own;
#else
    kept = malloc(4); // wrong
#ifdef FREED
    free(kept);
#endif
#endif
    return NULL;
}

int main(void) {
    pthread_t first, second;
#ifdef GATE
    if (!pass_gate())
        return 0;
#endif
    pthread_create(&first, NULL, work, &first);
#if defined PUBLISHED
    int *other = published;
    if (other)
        *other = 5; // wrong
#elif defined SWAPPED
    pthread_create(&second, NULL, work, NULL);
    pthread_join(second, NULL);
#endif
    pthread_join(first, NULL);
#ifdef DEAD
    return *pointer; // wrong
#endif
    return 0;
}
