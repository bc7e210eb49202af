// run: --property valid-memsafety -DARGUMENT => FALSE(valid-memtrack)
// run: --property valid-memsafety -DARGUMENT -DFREED => TRUE
// run: --property valid-memsafety -DRESULT => FALSE(valid-memtrack)
// run: --property valid-memsafety -DRESULT -DFREED => TRUE
// run: --property valid-memcleanup -DRUNNING => FALSE(valid-memcleanup)
// native: unseen
// Nothing refers to the argument of a thread that has ended, or to its result after a join that ignores it. If `main`
// returns, another thread may have memory.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) {
#ifdef RESULT
    return malloc(4); // wrong
#elif defined RUNNING
    void *memory = malloc(4); // wrong
    free(memory);
#elif defined FREED
    free(argument);
#endif
    return NULL;
}

int main(void) { // wrong
    pthread_t thread;
    void *argument = NULL, *result;
#ifdef ARGUMENT
    argument = malloc(4); // wrong
#endif
    pthread_create(&thread, NULL, work, argument);
    argument = NULL;
#ifdef RUNNING
    return 0; // wrong
#elif defined RESULT && defined FREED
    pthread_join(thread, &result);
    free(result);
#else
    pthread_join(thread, NULL);
#endif
    return 0; // wrong
}
