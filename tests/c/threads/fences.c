// run: --property unreach-call -DBUFFERS => TRUE
// run: --property unreach-call -DBUFFERS -DORDER=acq_rel => UNKNOWN
// run: --property unreach-call -DBUFFERS -DONE => UNKNOWN
// run: --property unreach-call -DWRITES => TRUE
// run: --property unreach-call -DWRITES -DORDER=acq_rel => UNKNOWN
// run: --property unreach-call -DREADERS => TRUE
// run: --property unreach-call -DREADERS -DORDER=acq_rel => UNKNOWN
// run: --property no-data-race -DDEKKER => TRUE
// run: --property unreach-call -DDEKKER => TRUE
// run: --property no-data-race -DDEKKER -DONE => UNKNOWN
// run: --property no-data-race -DPLAIN => FALSE(no-data-race)
// run: --property no-data-race -DPLAIN -DWEAK => FALSE(no-data-race)
// Sequentially consistent fences are in one order, which accesses of atomic variables follow. They order no plain accesses.
#include "../verify.h"
#include <pthread.h>
#include <stdatomic.h>

#ifndef ORDER
#define ORDER seq_cst
#endif
#define JOIN(a, b) a##b
#define NAME(order) JOIN(memory_order_, order)
#define FENCE() atomic_thread_fence(NAME(ORDER))
#define LOAD(x) atomic_load_explicit(&x, memory_order_relaxed)
#define STORE(x, value) atomic_store_explicit(&x, value, memory_order_relaxed)

static atomic_int x, y;
static int first, second, third, fourth, count;

static void *work(void *unused) {
#if defined BUFFERS
    STORE(x, 1);
#ifndef ONE
    FENCE();
#endif
    first = LOAD(y);
#elif defined WRITES
    STORE(x, 1);
    FENCE();
    STORE(y, 2);
#elif defined READERS
    first = LOAD(x);
    FENCE();
    second = LOAD(y);
#elif defined DEKKER
    STORE(x, 1);
#ifndef ONE
    FENCE();
#endif
    if (!LOAD(y))
        count++;
#else
#ifdef WEAK
    STORE(x, 1);
#endif
    count++; // wrong
    FENCE();
#endif
    return unused;
}

#ifdef READERS
static void *read_backwards(void *unused) {
    third = LOAD(y);
    FENCE();
    fourth = LOAD(x);
    return unused;
}

static void *write(void *unused) {
    STORE(x, 1);
    return unused;
}
#endif

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#if defined BUFFERS
    STORE(y, 1);
    FENCE();
    second = LOAD(x);
    pthread_join(thread, NULL);
    if (!first && !second)
        reach_error();
#elif defined WRITES
    STORE(y, 1);
    FENCE();
    STORE(x, 2);
    pthread_join(thread, NULL);
    if (LOAD(x) == 1 && LOAD(y) == 1)
        reach_error();
#elif defined READERS
    pthread_t reader, writer;
    pthread_create(&reader, NULL, read_backwards, NULL);
    pthread_create(&writer, NULL, write, NULL);
    STORE(y, 1);
    pthread_join(thread, NULL);
    pthread_join(reader, NULL);
    pthread_join(writer, NULL);
    if (first && !second && third && !fourth)
        reach_error();
#elif defined DEKKER
    STORE(y, 1);
    FENCE();
    if (!LOAD(x))
        count++;
    pthread_join(thread, NULL);
    if (count > 1)
        reach_error();
#else
    FENCE();
    count++; // wrong
    pthread_join(thread, NULL);
#endif
    return first + second + third + fourth;
}
