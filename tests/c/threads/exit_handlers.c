// run: --property unreach-call => TRUE
// run: --property unreach-call -DTWICE => FALSE(unreach-call)
// native: unseen
// Handlers of cancellation and of the end of the program.
#include "../verify.h"
#include <pthread.h>
#include <stdlib.h>

static int count;

static void clean(void *step) { count += *(int *)step; }

static void at_end(void) {
    if (count != 3)
        reach_error(); // wrong
}

static void *work(void *unused) {
    static int step = 3;
    pthread_cleanup_push(clean, &step);
    pthread_exit(unused);
    pthread_cleanup_pop(0);
    return unused;
}

int main(void) {
    pthread_t thread;
    if (atexit(at_end) != 0)
        return 1;
    pthread_create(&thread, NULL, work, NULL);
    pthread_join(thread, NULL);
#ifdef TWICE
    clean(&count);
#endif
    return 0;
}
