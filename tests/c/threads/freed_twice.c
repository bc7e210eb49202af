// run: --property no-data-race => FALSE(no-data-race)
// run: --check thread => FALSE(thread)
// run: --check address => FALSE(address)
// run: --property no-data-race -DLOCKED => UNKNOWN
// run: --check address -DLOCKED => FALSE(address)
// run: --property no-data-race -DJOINED => TRUE
// run: --check address -DJOINED => FALSE(address)
// Two calls that free one object race unless they are ordered.
#include <pthread.h>
#include <stdlib.h>

static int *object;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void release(void) {
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    free(object); // wrong
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    (void)mutex;
}

static void *work(void *unused) {
    release();
    return unused;
}

int main(void) {
    pthread_t thread;
    object = malloc(sizeof *object);
    pthread_create(&thread, NULL, work, NULL);
#ifdef JOINED
    pthread_join(thread, NULL);
#endif
    release();
#ifndef JOINED
    pthread_join(thread, NULL);
#endif
    return 0;
}
