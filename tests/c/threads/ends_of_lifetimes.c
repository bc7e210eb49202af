// run: --check address -DCALLED => UNKNOWN
// run: --check thread,address -DCALLED -DORDERED => TRUE
// run: --check address -DBLOCK => UNKNOWN
// run: --check thread,address -DBLOCK -DORDERED => TRUE
// run: --check address -DRETURNED => UNKNOWN
// run: --check thread,address -DRETURNED -DORDERED => TRUE
// run: --check address -DEXITED => UNKNOWN
// run: --check address -DTHREAD_LOCAL => UNKNOWN
// run: --check thread,address -DTHREAD_LOCAL -DORDERED => TRUE
// run: --check address -DFREED => UNKNOWN
// run: --check thread,address -DFREED -DORDERED => TRUE
// A variable that another thread only reads: its lifetime must end after these reads. A relaxed atomic variable does not order
// the two.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef ORDERED
#define LOAD memory_order_acquire
#define STORE memory_order_release
#else
#define LOAD memory_order_relaxed
#define STORE memory_order_relaxed
#endif

static atomic_int done;
static _Atomic(int *) passed;
static int *object;
static int got;
#ifdef THREAD_LOCAL
static _Thread_local int own;
#endif

static void wait_for(atomic_int *flag) {
    while (!atomic_load_explicit(flag, LOAD))
        ;
}

static void read_and_signal(const int *from) {
    got = *from;
    atomic_store_explicit(&done, 1, STORE);
}

#if defined RETURNED || defined EXITED || defined THREAD_LOCAL
static void *work(void *unused) {
#ifndef THREAD_LOCAL
    int own;
#endif
    own = 1;
    atomic_store(&passed, &own);
    wait_for(&done);
#ifdef EXITED
    pthread_exit(NULL);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    int *others = NULL;
    pthread_create(&thread, NULL, work, NULL);
    while (!others)
        others = atomic_load(&passed);
    read_and_signal(others);
    pthread_join(thread, NULL);
    return 0;
}
#else
static void *work(void *unused) {
    read_and_signal(object);
    return unused;
}

static void call(pthread_t *thread) {
    int x = 1;
    object = &x;
    pthread_create(thread, NULL, work, NULL);
    wait_for(&done);
}

int main(void) {
    pthread_t thread;
#ifdef CALLED
    call(&thread);
#elif defined BLOCK
    {
        int x = 1;
        object = &x;
        pthread_create(&thread, NULL, work, NULL);
        wait_for(&done);
    }
#else
    object = calloc(1, sizeof *object);
    if (!object)
        return 0;
    pthread_create(&thread, NULL, work, NULL);
    wait_for(&done);
    free(object);
#endif
    (void)call;
    pthread_join(thread, NULL);
    return 0;
}
#endif
