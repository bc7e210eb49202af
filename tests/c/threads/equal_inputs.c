// run: --property unreach-call => TRUE
// run: --property unreach-call -DUNLOCKED => FALSE(unreach-call)
// run: --check deadlock => TRUE
// run: --property unreach-call -DREADERS => TRUE
// run: --property unreach-call -DREADERS -DUNLOCKED => FALSE(unreach-call)
// run: --property unreach-call -DTWO => TRUE
// run: --property unreach-call -DTWO -DUNLOCKED => FALSE(unreach-call)
// run: --property unreach-call -DCONSTANT => FALSE(unreach-call)
// run: --property unreach-call -DCOMPUTED => UNKNOWN
// run: --property unreach-call -DPOINTER => FALSE(unreach-call)
// run: --property unreach-call -DSUM => UNKNOWN
// Inputs that threads pass on in global variables, and that are only compared for equality. A few values represent all.
#include "../verify.h"
#include <pthread.h>

#ifdef READERS
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
#define LOCK() pthread_rwlock_wrlock(&lock)
#define LOCK_FOR_READING() pthread_rwlock_rdlock(&lock)
#define UNLOCK() pthread_rwlock_unlock(&lock)
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
#define LOCK() pthread_mutex_lock(&mutex)
#define LOCK_FOR_READING() pthread_mutex_lock(&mutex)
#define UNLOCK() pthread_mutex_unlock(&mutex)
#endif

static int first, second, is_ready, other = 7;
static struct {
    short a;
    int b;
} pair;
static int *volatile pointer;

static void *work(void *unused) {
    int value = __VERIFIER_nondet_int();
#ifdef COMPUTED
    value ^= 5;
#endif
#ifndef UNLOCKED
    LOCK();
#endif
    first = value;
    second = value;
#ifdef TWO
    pair.b = __VERIFIER_nondet_int();
    if (pair.b == first)
        pair.b = second;
#endif
#ifdef CONSTANT
    if (second == other)
        reach_error(); // wrong
#endif
#ifdef POINTER
    if (pointer)
        *pointer = 5;
#endif
    is_ready = 1;
#ifndef READERS
    pthread_cond_signal(&condition);
#endif
#ifndef UNLOCKED
    UNLOCK();
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
#ifdef POINTER
    pointer = &second;
#endif
    pthread_create(&thread, NULL, work, NULL);
    LOCK_FOR_READING();
#if !defined READERS && !defined UNLOCKED
    while (!is_ready)
        pthread_cond_wait(&condition, &mutex);
#endif
    int got = first;
    if (got != second)
        reach_error(); // wrong
#ifdef SUM
    if (got + 1 == second)
        reach_error();
#endif
    UNLOCK();
    pthread_join(thread, NULL);
    (void)pair, (void)pointer, (void)other;
    return 0;
}
