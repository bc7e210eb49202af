// run: --property no-data-race -DJOINED => TRUE
// run: --property no-data-race -DMUTEX => FALSE(no-data-race)
// run: --property no-data-race -DMUTEX -DAGAIN => FALSE(no-data-race)
// run: --property no-data-race -DMUTEX -DASSIGNED => FALSE(no-data-race)
// run: --property no-data-race -DMUTEX -DHELD => FALSE(no-data-race)
// run: --property no-data-race -DMUTEX -DRELAXED => FALSE(no-data-race)
// run: --property no-data-race -DRWLOCK => FALSE(no-data-race)
// run: --property no-data-race -DSPIN_LOCK => FALSE(no-data-race)
// run: --property no-data-race -DCONDITION => FALSE(no-data-race)
// run: --property no-data-race -DSEMAPHORE => FALSE(no-data-race)
// run: --property no-data-race -DBARRIER => FALSE(no-data-race)
// run: --property no-data-race -DONCE => FALSE(no-data-race)
// run: --property no-data-race -DFREED => FALSE(no-data-race)
// native: unseen
// A lock is destroyed, initialised again, overwritten or freed while another thread may use it.
#include "../verify.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>

static struct {
    pthread_mutex_t mutex;
    pthread_rwlock_t rwlock;
    pthread_spinlock_t spin;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    pthread_once_t once;
} locks = {.once = PTHREAD_ONCE_INIT};
static sem_t *freed;
static atomic_int is_done;

static void nothing(void) {}

static void *work(void *unused) {
#if defined(MUTEX) || defined(JOINED)
    pthread_mutex_lock(&locks.mutex);   // wrong
    pthread_mutex_unlock(&locks.mutex); // wrong
#endif
#if defined(RWLOCK) || defined(JOINED)
    pthread_rwlock_rdlock(&locks.rwlock); // wrong
    pthread_rwlock_unlock(&locks.rwlock); // wrong
#endif
#if defined(SPIN_LOCK) || defined(JOINED)
    pthread_spin_lock(&locks.spin);   // wrong
    pthread_spin_unlock(&locks.spin); // wrong
#endif
#if defined(CONDITION) || defined(JOINED)
    pthread_cond_signal(&locks.condition); // wrong
#endif
#if defined(BARRIER) || defined(JOINED)
    pthread_barrier_wait(&locks.barrier); // wrong
#endif
#if defined(SEMAPHORE) || defined(JOINED)
    sem_post(&locks.semaphore); // wrong
#endif
#if defined(ONCE) || defined(JOINED)
    pthread_once(&locks.once, nothing); // wrong
#endif
#if defined(FREED) || defined(JOINED)
    sem_post(freed); // wrong
#endif
#ifdef RELAXED
    atomic_store_explicit(&is_done, 1, memory_order_relaxed);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_mutex_init(&locks.mutex, NULL);
    pthread_rwlock_init(&locks.rwlock, NULL);
    pthread_spin_init(&locks.spin, 0);
    pthread_cond_init(&locks.condition, NULL);
    pthread_barrier_init(&locks.barrier, NULL, 1);
    sem_init(&locks.semaphore, 0, 0);
    freed = malloc(sizeof *freed);
    sem_init(freed, 0, 0);
#ifdef HELD
    pthread_mutex_lock(&locks.mutex);
#endif
    pthread_create(&thread, NULL, work, NULL);
#ifdef JOINED
    pthread_join(thread, NULL);
#endif
#ifdef RELAXED
    if (!atomic_load_explicit(&is_done, memory_order_relaxed))
        return 0;
#endif
#if defined(AGAIN)
    pthread_mutex_init(&locks.mutex, NULL); // wrong
#elif defined(ASSIGNED)
    locks.mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER; // wrong
#else
    pthread_mutex_destroy(&locks.mutex); // wrong
#endif
    pthread_rwlock_destroy(&locks.rwlock);   // wrong
    pthread_spin_destroy(&locks.spin);       // wrong
    pthread_cond_destroy(&locks.condition);  // wrong
    pthread_barrier_destroy(&locks.barrier); // wrong
    sem_destroy(&locks.semaphore);           // wrong
    locks.once = PTHREAD_ONCE_INIT;          // wrong
    free(freed);                             // wrong
    return 0;
}
