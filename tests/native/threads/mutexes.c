// Mutexes of each kind, as their owner and as another thread.
#include "see.h"

static void *of_another(void *argument) {
    pthread_mutex_t *mutex = argument;
    see(pthread_mutex_trylock(mutex));
    see(pthread_mutex_timedlock(mutex, &past));
    see(pthread_mutex_timedlock(mutex, &wrong));
    see(pthread_mutex_timedlock(mutex, &negative));
    see(pthread_mutex_destroy(mutex));
    return NULL;
}
static void *unlocks(void *mutex) {
    see(pthread_mutex_unlock(mutex));
    return NULL;
}
static void *takes(void *mutex) {
    see(pthread_mutex_trylock(mutex));
    see(pthread_mutex_unlock(mutex));
    return NULL;
}

int main(void) {
    int kinds[] = {PTHREAD_MUTEX_NORMAL, PTHREAD_MUTEX_RECURSIVE, PTHREAD_MUTEX_ERRORCHECK, PTHREAD_MUTEX_DEFAULT, PTHREAD_MUTEX_ADAPTIVE_NP};
    for (int k = 0; k < 5; k++) {
        int kind = kinds[k], checks = kind == PTHREAD_MUTEX_RECURSIVE || kind == PTHREAD_MUTEX_ERRORCHECK;
        pthread_mutexattr_t attributes;
        pthread_mutex_t mutex;
        see(pthread_mutexattr_init(&attributes));
        see(pthread_mutexattr_settype(&attributes, kind));
        see(pthread_mutex_init(&mutex, &attributes));
        see(pthread_mutexattr_destroy(&attributes));
        if (checks)
            see(pthread_mutex_unlock(&mutex));
        see(pthread_mutex_lock(&mutex));
        see(pthread_mutex_trylock(&mutex));
        see(pthread_mutex_timedlock(&mutex, &past));
        see(pthread_mutex_timedlock(&mutex, &wrong));
        if (checks)
            see(pthread_mutex_lock(&mutex));
        apart(of_another, &mutex);
        if (checks)
            apart(unlocks, &mutex);
        see(pthread_mutex_destroy(&mutex));
        for (int i = 0; i < (kind == PTHREAD_MUTEX_RECURSIVE ? 5 : 1); i++) {
            apart(of_another, &mutex);
            see(pthread_mutex_unlock(&mutex));
        }
        if (checks)
            apart(unlocks, &mutex);
        apart(takes, &mutex);
        see(pthread_mutex_timedlock(&mutex, &wrong));
        see(pthread_mutex_unlock(&mutex));
        see(pthread_mutex_destroy(&mutex));
    }
    report(seen);
}
