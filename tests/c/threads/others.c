// run: --property unreach-call => TRUE
// run: --property no-data-race => TRUE
// run: --check deadlock => TRUE
// run: --property unreach-call -DBROKEN => FALSE(unreach-call)
// Barriers, `pthread_once`, semaphores, read-write locks, C11 threads, and a first thread that ends before the others.
#include "../verify.h"
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

static pthread_barrier_t barrier;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static sem_t semaphore;
static int made, value;

static void make(void) { made++; }

static void *read_value(void *unused) {
    pthread_once(&once, make);
    if (made != 1)
        reach_error();
    pthread_barrier_wait(&barrier);
    pthread_rwlock_rdlock(&lock);
    int seen = value;
    pthread_rwlock_unlock(&lock);
    if (seen != 0 && seen != 5)
        reach_error();
    sem_post(&semaphore);
    return unused;
}

static int write_value(void *unused) {
    pthread_once(&once, make);
    pthread_barrier_wait(&barrier);
    pthread_rwlock_wrlock(&lock);
    value = 4;
    value = 5;
    pthread_rwlock_unlock(&lock);
    sem_wait(&semaphore);
    return 3;
}

int main(void) {
    pthread_t reader;
    thrd_t writer;
    int result;
    pthread_barrier_init(&barrier, NULL, 2);
    sem_init(&semaphore, 0, 0);
    pthread_create(&reader, NULL, read_value, NULL);
    thrd_create(&writer, write_value, NULL);
    thrd_join(writer, &result);
    if (result != 3 || value != 5)
        reach_error();
#ifdef BROKEN
    // The reader may continue before or after the end of `sem_post`, but it has read the value.
    pthread_join(reader, NULL);
    if (value == 5)
        reach_error(); // wrong
#endif
    pthread_exit(NULL);
}
