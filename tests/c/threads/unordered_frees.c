// run: --check thread => FALSE(thread)
// run: --property no-data-race => FALSE(no-data-race)
// run: --check thread,address -DORDERED => TRUE
// run: --check thread -DHANDED_OVER => FALSE(thread)
// run: --check thread,address -DHANDED_OVER -DORDERED => TRUE
// run: --check address -DHANDED_OVER => UNKNOWN
// run: --check address -DENDED => UNKNOWN
// run: --check thread,address -DENDED -DORDERED => TRUE
// run: --check address -DEXITED => UNKNOWN
// run: --check thread,address -DEXITED -DORDERED => TRUE
// run: --check address -DTHREAD_LOCAL => UNKNOWN
// A free, and the end of a variable's lifetime, must be ordered after the accesses of other threads.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#ifdef ORDERED
#define ORDER memory_order_acq_rel
#define STORE memory_order_release
#else
#define ORDER memory_order_relaxed
#define STORE memory_order_relaxed
#endif

struct counted {
    atomic_int count;
    int value[20];
};
static struct counted *kept;
static _Atomic(int *) passed;
static atomic_int done;
static int *local;

static _Thread_local int own;

static void put(void) {
    if (atomic_fetch_sub_explicit(&kept->count, 1, ORDER) == 1)
        free(kept); // wrong
}

static void *work(void *unused) {
#if defined(HANDED_OVER)
    int *made = malloc(sizeof *made);
    if (!made)
        return unused;
    *made = 1;
    atomic_store_explicit(&passed, made, STORE);
#elif defined(ENDED)
    *local = 3;
    atomic_store_explicit(&done, 1, STORE);
#elif defined(EXITED) || defined(THREAD_LOCAL)
    int x = 0;
#ifdef EXITED
    atomic_store(&passed, &x);
#else
    own = 1;
    atomic_store(&passed, &own);
#endif
    while (!atomic_load(&done))
        ;
    (void)x;
#ifdef EXITED
    pthread_exit(NULL);
#endif
#else
    int value = kept->value[3];
    (void)value;
    put();
#endif
    return unused;
}

static void wait(pthread_t *thread) {
    int x = 0;
    local = &x;
    pthread_create(thread, NULL, work, NULL);
    while (!atomic_load(&done))
        ;
}

int main(void) {
    pthread_t thread;
#ifdef ENDED
    wait(&thread);
#elif defined(EXITED) || defined(THREAD_LOCAL)
    pthread_create(&thread, NULL, work, NULL);
    int *others = NULL;
    while (!others)
        others = atomic_load(&passed);
    *others = 3;
    atomic_store_explicit(&done, 1, STORE);
#elif defined(HANDED_OVER)
    pthread_create(&thread, NULL, work, NULL);
    int *got = atomic_load_explicit(&passed, memory_order_acquire);
    free(got); // wrong
#else
    kept = calloc(1, sizeof *kept);
    if (!kept)
        return 0;
    atomic_store(&kept->count, 2);
    pthread_create(&thread, NULL, work, NULL);
    put();
#endif
    (void)wait;
    (void)own;
    pthread_join(thread, NULL);
    return 0;
}
