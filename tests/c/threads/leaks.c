// run: --property valid-memsafety -DARGUMENT => FALSE(valid-memtrack)
// run: --property valid-memsafety -DARGUMENT -DFREED => TRUE
// run: --property valid-memcleanup -DRUNNING => FALSE(valid-memcleanup)
// Nothing refers to the argument of a thread that has ended. If `main` returns, another thread may have memory.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) {
#ifdef RUNNING
    void *memory = malloc(4); // wrong
    free(memory);
#elif defined FREED
    free(argument);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *argument = NULL;
#ifdef ARGUMENT
    argument = malloc(4); // wrong
#endif
    pthread_create(&thread, NULL, work, argument);
    argument = NULL;
#ifdef RUNNING
    return 0;
#else
    pthread_join(thread, NULL);
#endif
    return 0;
}
