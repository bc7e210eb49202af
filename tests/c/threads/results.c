// run: --property valid-memsafety => FALSE(valid-memtrack)
// run: --property valid-memsafety -DFREED => TRUE
// native: unseen
// Nothing refers to the result of a thread after a join that ignores it. The library keeps the pointer.
#include <pthread.h>
#include <stdlib.h>

static void *work(void *argument) {
    return malloc(4); // wrong
}

int main(void) { // wrong
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifdef FREED
    void *result;
    pthread_join(thread, &result);
    free(result);
#else
    pthread_join(thread, NULL);
#endif
    return 0; // wrong
}
