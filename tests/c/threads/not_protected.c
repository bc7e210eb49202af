// run: --property no-data-race -DOTHER_ELEMENT => FALSE(no-data-race)
// run: --property no-data-race -DUNLOCKED_BY_CALLEE => FALSE(no-data-race)
// run: --property no-data-race -DOTHER_JOINED => FALSE(no-data-race)
// run: --property no-data-race => TRUE
// Locks that do not protect what they seem to.
#include "../verify.h"
#include <pthread.h>

static pthread_mutex_t locks[2] = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER};
static int shared;

static void unlock(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }

static void *first(void *argument) {
    pthread_mutex_lock(&locks[0]);
#ifdef UNLOCKED_BY_CALLEE
    unlock(argument);
    shared++; // wrong
#else
    shared++; // wrong
    unlock(argument);
#endif
    return NULL;
}

static void *second(void *argument) {
#ifdef OTHER_ELEMENT
    pthread_mutex_t *lock = &locks[1];
#else
    pthread_mutex_t *lock = &locks[0];
#endif
    pthread_mutex_lock(lock);
    shared++; // wrong
    pthread_mutex_unlock(lock);
    return argument;
}

int main(void) {
    pthread_t a, b;
    pthread_create(&a, NULL, first, &locks[0]);
    pthread_create(&b, NULL, second, NULL);
#ifdef OTHER_JOINED
    pthread_join(a, NULL);
    shared++; // wrong
    pthread_join(b, NULL);
#else
    pthread_join(a, NULL);
    pthread_join(b, NULL);
    shared++;
#endif
    return 0;
}
