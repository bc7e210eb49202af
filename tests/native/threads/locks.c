// Read-write locks, spin locks, semaphores and barriers.
#include "see.h"

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spin;
static sem_t semaphore;
static pthread_barrier_t barrier;

static void *of_readers(void *unused) {
    see(pthread_rwlock_tryrdlock(&lock));
    see(pthread_rwlock_trywrlock(&lock));
    see(pthread_rwlock_unlock(&lock));
    return NULL;
}
static void *of_writer(void *unused) {
    see(pthread_rwlock_tryrdlock(&lock));
    see(pthread_rwlock_trywrlock(&lock));
    return NULL;
}
static void *of_none(void *unused) {
    see(pthread_rwlock_trywrlock(&lock));
    see(pthread_rwlock_tryrdlock(&lock));
    see(pthread_rwlock_rdlock(&lock));
    see(pthread_rwlock_wrlock(&lock));
    see(pthread_rwlock_unlock(&lock));
    return NULL;
}
static void *spins(void *unused) {
    see(pthread_spin_trylock(&spin));
    return NULL;
}
static void *waits(void *unused) {
    int value = 7;
    see(sem_getvalue(&semaphore, &value));
    see(value);
    see(sem_trywait(&semaphore));
    errno = 0;
    see(sem_trywait(&semaphore));
    see(errno);
    see(sem_post(&semaphore));
    see(sem_wait(&semaphore));
    see(sem_post(&semaphore));
    see(sem_post(&semaphore));
    return NULL;
}
static void *meets(void *unused) { return (void *)(long)pthread_barrier_wait(&barrier); }

int main(void) {
    see(pthread_rwlock_rdlock(&lock));
    see(pthread_rwlock_rdlock(&lock));
    apart(of_readers, NULL);
    see(pthread_rwlock_unlock(&lock));
    see(pthread_rwlock_trywrlock(&lock));
    see(pthread_rwlock_unlock(&lock));
    see(pthread_rwlock_wrlock(&lock));
    see(pthread_rwlock_wrlock(&lock));
    see(pthread_rwlock_rdlock(&lock));
    see(pthread_rwlock_tryrdlock(&lock));
    apart(of_writer, NULL);
    see(pthread_rwlock_unlock(&lock));
    apart(of_none, NULL);
    see(pthread_rwlock_destroy(&lock));

    see(pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE));
    see(pthread_spin_lock(&spin));
    see(pthread_spin_trylock(&spin));
    apart(spins, NULL);
    see(pthread_spin_unlock(&spin));
    apart(spins, NULL);
    see(pthread_spin_destroy(&spin));

    errno = 0;
    see(sem_init(&semaphore, 0, 0x80000000u));
    see(errno);
    see(sem_init(&semaphore, 0, 1));
    apart(waits, NULL);
    int value = 7;
    see(sem_getvalue(&semaphore, &value));
    see(value);
    see(sem_destroy(&semaphore));
    see(sem_init(&semaphore, 0, 0x7fffffff));
    errno = 0;
    see(sem_post(&semaphore));
    see(errno);

    see(pthread_barrier_init(&barrier, NULL, 0));
    see(pthread_barrier_init(&barrier, NULL, 1));
    see(pthread_barrier_wait(&barrier));
    see(pthread_barrier_destroy(&barrier));
    see(pthread_barrier_init(&barrier, NULL, 3));
    for (int round = 0; round < 2; round++) {
        pthread_t threads[2];
        void *results[2];
        for (int i = 0; i < 2; i++)
            see(pthread_create(&threads[i], NULL, meets, NULL));
        long sum = pthread_barrier_wait(&barrier);
        for (int i = 0; i < 2; i++) {
            see(pthread_join(threads[i], &results[i]));
            sum += (long)results[i];
        }
        see(sum);
    }
    see(pthread_barrier_destroy(&barrier));
    report(seen);
}
