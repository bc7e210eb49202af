// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DWAKES => UNKNOWN
// run: -DBLOCKS --property termination => FALSE(termination)
// pthread.h in a program with a single thread. An operation that waits for another thread waits forever.
#define _GNU_SOURCE
#include <pthread.h>
#include <semaphore.h>
#include "../verify.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER, recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static int initialised, ready;

static void initialise(void) { initialised++; }

int main(void) {
    pthread_once(&once, initialise);
    pthread_once(&once, initialise);
    check(initialised == 1);
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
    pthread_mutex_unlock(&recursive);
    check(pthread_mutex_destroy(&recursive) == 16);
    pthread_mutex_unlock(&recursive);
    check(pthread_mutex_destroy(&recursive) == 0);
    sem_t semaphore;
    int n = __VERIFIER_nondet_int();
    sem_init(&semaphore, 0, n > 0);
    pthread_mutex_lock(&mutex);
    wrong(n <= 0);
#ifdef WAKES
    // A wait may end spuriously, which no native run shows.
    pthread_cond_wait(&condition, &mutex);
    reach_error();
#else
    while (n > 5 && !ready)
        pthread_cond_wait(&condition, &mutex); // wrong: for ever
    check(n <= 5);
#endif
    sem_wait(&semaphore); // wrong: for ever
    check(n > 0);
#ifdef BLOCKS
    pthread_mutex_lock(&mutex); // wrong: for ever
    reach_error();
#endif
    pthread_mutex_unlock(&mutex);
    return 0;
}
