// run: --check thread => FALSE(thread)
// run: --property no-data-race => FALSE(no-data-race)
// run: --check thread,address -DORDERED => TRUE
// run: --check thread -DFREES => FALSE(thread)
// run: --check thread,address -DFREES -DORDERED => TRUE
// run: --check thread -DLOCKED => TRUE
// native: unseen
// calloc writes the memory that it allocates. An access of another thread must be ordered after it.
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

struct pair {
    int first, second;
};
static _Atomic(struct pair *) passed;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int sum;

static void *work(void *unused) {
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    struct pair *made = calloc(1, sizeof *made);
    atomic_store_explicit(&passed, made, STORE);
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
    struct pair *pair = atomic_load_explicit(&passed, LOAD);
#ifdef FREES
    free(pair); // wrong
#else
    if (pair)
        sum = pair->second; // wrong
#endif
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
    (void)mutex;
    pthread_join(thread, NULL);
    return sum;
}
