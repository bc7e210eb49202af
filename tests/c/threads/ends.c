// run: --property unreach-call => FALSE(unreach-call)
// run: --property no-data-race => FALSE(no-data-race)
// run: --property unreach-call -DJOINED => FALSE(unreach-call)
// run: --property unreach-call -DEARLY => TRUE
// The end of `main` ends all threads, which may have run before.
#include "../verify.h"
#include <pthread.h>

static int x;

static void *work(void *unused) {
    x = 1; // wrong
    if (x == 1) // wrong
        reach_error(); // wrong
}

int main(void) {
    pthread_t thread;
#ifdef EARLY
    return 0;
#endif
    pthread_create(&thread, 0, work, 0);
    pthread_create(&thread, 0, work, 0);
#ifdef JOINED
    pthread_join(thread, 0);
#endif
    return 0;
}
