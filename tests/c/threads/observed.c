// run: --property no-data-race -DEXCHANGE => FALSE(no-data-race)
// run: --property no-data-race -DEXCHANGE -DGATE => UNKNOWN
// run: --property no-data-race -DLARGE_EXCHANGE -DGATE => UNKNOWN
// run: --property no-data-race -DMUTEX => FALSE(no-data-race)
// run: --property no-data-race -DMUTEX -DGATE => UNKNOWN
// run: --property no-data-race -DREADER => FALSE(no-data-race)
// run: --property no-data-race -DREADER -DGATE => UNKNOWN
// run: --property no-data-race -DVALUE => FALSE(no-data-race)
// run: --property no-data-race -DVALUE -DGATE => UNKNOWN
// run: --property no-data-race -DSTRONG => TRUE
// A failed exchange of weak order, a failed attempt to lock, and the value of a semaphore show the state of another thread.
// They do not order the accesses of the two threads.
#include "gate.h"
#include <semaphore.h>

static int x;
static atomic_int flag;
static struct large {
    int words[5];
} expected;
static _Atomic struct large large;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;

static void *work(void *unused) {
#ifdef LARGE_EXCHANGE
    struct large next = {{1}};
    atomic_compare_exchange_strong(&large, &expected, next); // wrong
    return NULL;
#endif
    x = 1; // wrong
    flag = 1;
    pthread_mutex_lock(&mutex);
    pthread_rwlock_rdlock(&lock);
    sem_post(&semaphore);
    return NULL;
}

static int was_seen(void) {
#if defined EXCHANGE || defined STRONG
    int old = 5;
#ifdef EXCHANGE
    atomic_compare_exchange_strong_explicit(&flag, &old, 7, memory_order_seq_cst, memory_order_relaxed);
#else
    atomic_compare_exchange_strong(&flag, &old, 7);
#endif
    return old == 1;
#elif defined MUTEX
    return pthread_mutex_trylock(&mutex) != 0;
#elif defined READER
    return pthread_rwlock_trywrlock(&lock) != 0;
#elif defined VALUE
    int value;
    sem_getvalue(&semaphore, &value);
    return value;
#else
    work(NULL);
    return 0;
#endif
}

int main(void) {
    pthread_t thread;
    sem_init(&semaphore, 0, 0);
#ifdef GATE
    if (!pass_gate())
        return 0;
#endif
    pthread_create(&thread, NULL, work, NULL);
    return was_seen() ? x : 0; // wrong
}
