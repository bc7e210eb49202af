// run: --property no-data-race => TRUE
// run: --property no-data-race -DIGNORED => FALSE(no-data-race)
// run: --property no-data-race -DSTORED => TRUE
// run: --property no-data-race -DRELEASED => FALSE(no-data-race)
// run: --property no-data-race -DOTHER => FALSE(no-data-race)
// run: --property no-data-race -DREWRITTEN => FALSE(no-data-race)
// An attempt to lock protects the code that runs only if it succeeded, for all inputs.
#include "../verify.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int count;

static void unlock(void) { pthread_mutex_unlock(&mutex); }

static void *work(void *unused) {
    int by = __VERIFIER_nondet_int();
#if defined IGNORED
    int result = pthread_mutex_trylock(&mutex);
    count ^= by; // wrong
    if (!result)
        unlock();
#elif defined STORED
    int result = pthread_mutex_trylock(&mutex);
    if (result)
        return unused;
    count ^= by;
    unlock();
#elif defined RELEASED
    int result = pthread_mutex_trylock(&mutex);
    if (result == 0)
        unlock();
    if (result == 0)
        count ^= by; // wrong
#elif defined OTHER
    if (pthread_mutex_trylock(&other) == 0) {
        count ^= by; // wrong
        pthread_mutex_unlock(&other);
    }
#elif defined REWRITTEN
    int result = pthread_mutex_trylock(&mutex);
    if (!result)
        unlock();
    result = by;
    if (!result)
        count ^= by; // wrong
#else
    if (pthread_mutex_trylock(&mutex) == 0) {
        count ^= by;
        unlock();
    }
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
    pthread_mutex_lock(&mutex);
    count ^= __VERIFIER_nondet_int(); // wrong
    pthread_mutex_unlock(&mutex);
    pthread_join(thread, NULL);
    (void)other;
    return 0;
}
