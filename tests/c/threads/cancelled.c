// run: --property unreach-call => TRUE
// run: --property unreach-call -DTWICE => FALSE(unreach-call)
// run: --property unreach-call -DDISABLED => FALSE(unreach-call)
// run: --property unreach-call -DJOIN => TRUE
// run: --property unreach-call -DWAIT => TRUE
// run: --property unreach-call -DSEMAPHORE => TRUE
// run: --property unreach-call -DEXIT => TRUE
// run: --check deadlock -DKEPT => FALSE(deadlock)
// run: --check deadlock -DWAIT => TRUE
// run: --property unreach-call -DASYNCHRONOUS => UNKNOWN
// native: unseen
// Cancellation ends a thread at a cancellation point: its cleanup handlers run, the innermost first, and the result is
// PTHREAD_CANCELED. A wait for a condition variable locks the mutex again before the handlers run.
#include "../verify.h"
#include <pthread.h>
#include <semaphore.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t semaphore;
static pthread_t first;
static int steps, ended;

static void outer(void *by) {
    if (steps != 1)
        reach_error();
    steps += *(int *)by;
}

static void inner(void *by) {
    steps = *(int *)by;
#if defined WAIT
    if (pthread_mutex_trylock(&mutex) == 0)
        reach_error();
    pthread_mutex_unlock(&mutex);
#endif
}

static void *work(void *unused) {
    int one = 1, two = 2;
    pthread_cleanup_push(outer, &two);
    pthread_cleanup_push(inner, &one);
#if defined DISABLED
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, NULL);
#elif defined ASYNCHRONOUS
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
#endif
#if defined JOIN
    pthread_join(first, NULL);
#elif defined WAIT
    pthread_mutex_lock(&mutex);
    while (1)
        pthread_cond_wait(&never, &mutex);
#elif defined SEMAPHORE
    while (1)
        sem_wait(&semaphore);
#elif defined KEPT
    pthread_mutex_lock(&mutex); // wrong
    sleep(1);
    pthread_mutex_unlock(&mutex);
#elif defined EXIT
    pthread_exit(PTHREAD_CANCELED);
#else
    sleep(1);
    pthread_testcancel();
#endif
    pthread_cleanup_pop(0);
    pthread_cleanup_pop(0);
    ended = 1;
    return NULL;
}

int main(void) {
    pthread_t thread;
    void *result;
    first = pthread_self();
    pthread_create(&thread, NULL, work, NULL);
#ifndef EXIT
    pthread_cancel(thread);
#endif
#if defined KEPT
    pthread_mutex_lock(&mutex); // wrong
#else
    pthread_join(thread, &result); // wrong
    if (result == PTHREAD_CANCELED ? steps != 3 : !ended)
        reach_error();
#if defined JOIN || defined WAIT || defined SEMAPHORE || defined EXIT
    if (result != PTHREAD_CANCELED)
        reach_error();
#elif defined DISABLED
    if (result != PTHREAD_CANCELED)
        reach_error(); // wrong
#elif defined TWICE
    if (steps == 0)
        reach_error(); // wrong
#endif
#endif
    return 0;
}
