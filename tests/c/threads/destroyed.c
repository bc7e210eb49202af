// run: --property unreach-call => FALSE(unreach-call)
// run: --property unreach-call -DJOINED => TRUE
// run: --property no-data-race -DJOINED => TRUE
// The result of destroying a mutex shows whether another thread holds it.
#include "../verify.h"
#include <errno.h>
#include <pthread.h>

static pthread_mutex_t mutex;

static void *work(void *unused) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&mutex, NULL);
    pthread_create(&thread, NULL, work, NULL);
#ifdef JOINED
    pthread_join(thread, NULL);
#endif
    if (pthread_mutex_destroy(&mutex) == EBUSY)
        reach_error(); // wrong
#ifndef JOINED
    pthread_join(thread, NULL);
#endif
    return 0;
}
