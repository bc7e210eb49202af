// run: --property unreach-call -DLOCK => TRUE
// run: --property no-data-race -DLOCK => TRUE
// run: --property no-data-race -DLOCK -DACQUIRE=relaxed => FALSE(no-data-race)
// run: --property no-data-race -DLOCK -DRELEASE=relaxed => FALSE(no-data-race)
// run: --property unreach-call -DMESSAGE => TRUE
// run: --property unreach-call -DMESSAGE -DACQUIRE=relaxed => UNKNOWN
// run: --property unreach-call -DMESSAGE -DRELEASE=relaxed => UNKNOWN
// run: --property unreach-call -DMESSAGE -DACQUIRE=relaxed -DRELEASE=relaxed -DFENCES => TRUE
// run: --property unreach-call -DBUFFERS => UNKNOWN
// run: --property unreach-call -DBUFFERS -DACQUIRE=seq_cst => UNKNOWN
// run: --property unreach-call -DBUFFERS -DACQUIRE=seq_cst -DRELEASE=seq_cst -DOTHER => TRUE
// run: --property unreach-call -DTRY => UNKNOWN
// run: --property unreach-call -DDETACHED => UNKNOWN
// run: --property unreach-call -DCHAIN => TRUE
// run: --property unreach-call -DCHAIN -DPLAIN_CHAIN => UNKNOWN
// Weak memory orders permit executions that are not sequentially consistent, unless the program is robust.
#include "../verify.h"
#include <pthread.h>
#include <stdatomic.h>

#ifndef ACQUIRE
#define ACQUIRE acquire
#endif
#ifndef RELEASE
#define RELEASE release
#endif
#define JOIN(a, b) a##b
#define ORDER(order) JOIN(memory_order_, order)
#define LOAD(x, order) atomic_load_explicit(&x, ORDER(order))
#define STORE(x, value, order) atomic_store_explicit(&x, value, ORDER(order))

static atomic_int x, y, other;
static int count, first, second;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void take(void) {
    int free = 0;
    while (!atomic_compare_exchange_strong_explicit(&x, &free, 1, ORDER(ACQUIRE), memory_order_relaxed))
        free = 0;
}

static void *work(void *unused) {
#if defined(LOCK)
    take();
    count++; // wrong
    STORE(x, 0, RELEASE);
#elif defined(MESSAGE)
    STORE(x, 1, relaxed);
#ifdef FENCES
    atomic_thread_fence(memory_order_release);
#endif
    STORE(y, 1, RELEASE);
#elif defined(BUFFERS)
    STORE(x, 1, RELEASE);
#ifdef OTHER
    STORE(other, 1, relaxed);
#endif
    first = LOAD(y, ACQUIRE);
#elif defined(TRY)
    STORE(x, 1, relaxed);
    pthread_mutex_lock(&mutex);
#elif defined(DETACHED)
    STORE(x, 1, relaxed);
    STORE(y, 1, relaxed);
#elif defined(CHAIN)
    STORE(other, 1, relaxed);
    STORE(x, 1, RELEASE);
#endif
    return unused;
}

static void *pass(void *unused) {
#ifdef CHAIN
    // The exchange continues the release sequence. A store does not.
    int one = 1;
#ifdef PLAIN_CHAIN
    if (LOAD(x, relaxed) == 1)
        STORE(x, 2, relaxed);
#else
    atomic_compare_exchange_strong_explicit(&x, &one, 2, memory_order_relaxed, memory_order_relaxed);
#endif
#endif
    return unused;
}

int main(void) {
    pthread_t worker, passer;
#ifdef CHAIN
    pthread_create(&passer, NULL, pass, NULL);
#endif
    pthread_create(&worker, NULL, work, NULL);
#if defined(LOCK)
    take();
    count++; // wrong
    STORE(x, 0, RELEASE);
#elif defined(MESSAGE)
    if (LOAD(y, ACQUIRE)) {
#ifdef FENCES
        atomic_thread_fence(memory_order_acquire);
#endif
        if (LOAD(x, relaxed) != 1)
            reach_error();
    }
#elif defined(BUFFERS)
    STORE(y, 1, RELEASE);
    second = LOAD(x, ACQUIRE);
    pthread_join(worker, NULL);
    if (!first && !second)
        reach_error();
#elif defined(TRY)
    if (pthread_mutex_trylock(&mutex) != 0 && LOAD(x, relaxed) != 1)
        reach_error();
#elif defined(DETACHED)
    if (LOAD(y, relaxed) && LOAD(x, relaxed) != 1)
        reach_error();
#elif defined(CHAIN)
    if (LOAD(x, ACQUIRE) == 2 && LOAD(other, relaxed) != 1)
        reach_error();
#endif
#if defined(LOCK)
    pthread_join(worker, NULL);
    if (count != 2)
        reach_error();
#endif
    return 0;
}
