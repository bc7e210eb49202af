// run: --property unreach-call -DSELF => TRUE
// run: --check deadlock -DSELF => TRUE
// run: --property unreach-call -DWRITER => TRUE
// run: --check deadlock -DWRITER => TRUE
// run: --property unreach-call -DRECURSIVE => UNKNOWN
// run: --check deadlock -DRECURSIVE => UNKNOWN
// run: --property unreach-call -DIDENTIFIER => UNKNOWN
// run: --property unreach-call -DDETACHED => UNKNOWN
// run: --property unreach-call -DALIVE => TRUE
// run: --property unreach-call -DPOINTER => FALSE(unreach-call)
// run: --property unreach-call -DPOINTER -DZERO => FALSE(unreach-call)
// The behaviour of glibc for a thread that joins itself, a writer that locks again, and a recursive mutex that is locked twice
// while its thread waits. A later thread may get the identifier of an earlier one.
#define _GNU_SOURCE
#include "../verify.h"
#include <errno.h>
#include <pthread.h>

static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static int is_ready;

static void *work(void *unused) {
#ifdef RECURSIVE
    pthread_mutex_lock(&mutex);
    is_ready = 1;
    pthread_cond_signal(&condition);
    pthread_mutex_unlock(&mutex);
#elif defined POINTER
    return (void *)(long)__VERIFIER_nondet_int();
#endif
    return NULL;
}

int main(void) {
    pthread_t first, second;
    void *result;
#if defined SELF
    pthread_create(&first, NULL, work, NULL);
    if (pthread_join(first, NULL) != 0 || pthread_join(pthread_self(), NULL) != EDEADLK)
        reach_error(); // wrong
#elif defined WRITER
    pthread_create(&first, NULL, work, NULL);
    pthread_rwlock_wrlock(&lock);
    if (pthread_rwlock_wrlock(&lock) != EDEADLK || pthread_rwlock_rdlock(&lock) != EDEADLK)
        reach_error(); // wrong
    pthread_rwlock_unlock(&lock);
    if (pthread_rwlock_rdlock(&lock) || pthread_rwlock_rdlock(&lock))
        reach_error(); // wrong
#elif defined RECURSIVE
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
    pthread_create(&first, NULL, work, NULL);
    while (!is_ready)
        pthread_cond_wait(&condition, &mutex);
    reach_error(); // wrong
#elif defined IDENTIFIER
    pthread_create(&first, NULL, work, NULL);
    pthread_join(first, NULL);
    pthread_create(&second, NULL, work, NULL);
    if (pthread_equal(first, second))
        reach_error(); // wrong
#elif defined DETACHED || defined ALIVE
    pthread_create(&first, NULL, work, NULL);
#ifdef DETACHED
    pthread_detach(first);
#endif
    pthread_create(&second, NULL, work, NULL);
    if (pthread_equal(first, second))
        reach_error(); // wrong
#else
    int (*volatile join)(pthread_t, void **) = pthread_join;
    pthread_create(&first, NULL, work, NULL);
    join(first, &result);
#ifdef ZERO
    unsigned mixed = result ? 0x12345678 : 0;
#else
    unsigned mixed = (unsigned)(long)result * 0x9e3779b1u;
#endif
    if (mixed == 0x12345678)
        reach_error(); // wrong
#endif
    return 0;
}
