// Deferred cancellation: cleanup handlers, cancellation points, and the state of cancellation.
#include "see.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t started, empty;
static pthread_key_t key;
static pthread_t first;

static void clean(void *number) { see((long)number); }
static void destroy(void *value) { see(*(int *)value); }
static void unlock(void *held) {
    see(pthread_mutex_trylock(held));
    see(pthread_mutex_unlock(held));
}

enum { TEST, SLEEP, WAIT, TIMED_WAIT, SEMAPHORE, JOIN, READ, DISABLED, NESTED, EXIT, WAYS };

static void *works(void *argument) {
    static int kept = 77;
    int way = *(int *)argument, old = 7;
    see(pthread_setspecific(key, &kept));
    see(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &old));
    see(old);
    pthread_testcancel();
    pthread_cleanup_push(clean, (void *)1);
    pthread_cleanup_push(clean, (void *)2);
    pthread_cleanup_push(clean, (void *)3);
    pthread_cleanup_pop(1);
    pthread_cleanup_push(clean, (void *)4);
    pthread_cleanup_pop(0);
    sem_post(&started);
    struct timespec later = {2000000000, 0};
    char byte;
    if (way != DISABLED)
        pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &old);
    switch (way) {
    case TEST:
        while (1)
            pthread_testcancel();
    case SLEEP:
        while (1)
            sleep(1);
    case WAIT:
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push(unlock, &mutex);
        while (1)
            pthread_cond_wait(&never, &mutex);
        pthread_cleanup_pop(0);
    case TIMED_WAIT:
        pthread_mutex_lock(&mutex);
        pthread_cleanup_push(unlock, &mutex);
        while (1)
            pthread_cond_timedwait(&never, &mutex, &later);
        pthread_cleanup_pop(0);
    case SEMAPHORE:
        while (1)
            sem_wait(&empty);
    case JOIN:
        pthread_join(first, NULL);
    case NESTED:
        pthread_cleanup_push(clean, (void *)5);
        while (1)
            pthread_testcancel();
        pthread_cleanup_pop(0);
    case READ:
    case DISABLED:
        pthread_testcancel();
        see(8);
        break;
    case EXIT:
        pthread_exit(argument);
    }
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(1);
    return argument;
}

static void *cancels_itself(void *unused) {
    see(pthread_cancel(pthread_self()));
    see(9);
    pthread_testcancel();
    see(10);
    return NULL;
}
static void *ends(void *unused) { return unused; }

int main(void) {
    first = pthread_self();
    sem_init(&started, 0, 0);
    sem_init(&empty, 0, 0);
    see(pthread_key_create(&key, destroy));
    for (int way = 0; way < WAYS; way++) {
        if (way == READ)
            continue;
        pthread_t thread;
        void *result;
        int created = pthread_create(&thread, NULL, works, &way), cancelled = 0;
        sem_wait(&started);
        if (way != EXIT)
            cancelled = pthread_cancel(thread);
        see(pthread_join(thread, &result));
        see(created);
        see(cancelled);
        see(result == PTHREAD_CANCELED);
        see(result == &way);
    }
    see(apart(cancels_itself, NULL) == PTHREAD_CANCELED);
    int state = 7, type = 7;
    see(pthread_setcancelstate(2, &state));
    see(pthread_setcanceltype(2, &type));
    see(pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &state));
    see(pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &type));
    see(state), see(type);
    see(pthread_setcancelstate(PTHREAD_CANCEL_ENABLE, &state));
    see(state);
    report(seen);
}
