// run: --property no-data-race => TRUE
// run: --property no-data-race -DWRITES => FALSE(no-data-race)
// run: --property no-data-race -DUNLOCKED => FALSE(no-data-race)
// run: --property no-data-race -DATTEMPT => TRUE
// run: --property no-data-race -DTWICE => TRUE
// run: --property no-data-race -DHELPERS => TRUE
// Read-write locks protect memory that is written with the lock held for writing and read with the lock held, for all inputs and
// numbers of threads.
#include "../verify.h"
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static int low, high;

#ifdef HELPERS
static void lock_for_reading(void) { pthread_rwlock_rdlock(&lock); }
#else
#define lock_for_reading() pthread_rwlock_rdlock(&lock)
#endif

static void *reads(void *unused) {
#ifdef ATTEMPT
    if (pthread_rwlock_tryrdlock(&lock))
        return unused;
#else
    lock_for_reading();
#endif
    int width = high - low; // wrong
#ifdef WRITES
    low = width; // wrong
#endif
    (void)width;
    pthread_rwlock_unlock(&lock);
#ifdef TWICE
    pthread_rwlock_wrlock(&lock);
    low++;
    pthread_rwlock_unlock(&lock);
#endif
    return unused;
}

static void *writes(void *unused) {
    int value = __VERIFIER_nondet_int();
#ifndef UNLOCKED
    pthread_rwlock_wrlock(&lock);
#endif
    low = value % 1000; // wrong
    high = value % 1000;
#ifndef UNLOCKED
    pthread_rwlock_unlock(&lock);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    int count = __VERIFIER_nondet_int();
    for (int i = 0; i < count; i++) {
        pthread_create(&thread, NULL, reads, NULL);
        pthread_create(&thread, NULL, writes, NULL);
    }
    return 0;
}
