// run: --check thread => FALSE(thread)
// run: --check thread -DC11 => FALSE(thread)
// A harness enforces schedules with detached threads.
#include <pthread.h>
#include <stdatomic.h>
#include <threads.h>

static atomic_int done;
static int x;

static void *work(void *unused) {
    x = 2;
    atomic_store_explicit(&done, 1, memory_order_relaxed);
    return unused;
}

static void *nothing(void *unused) {
    return unused;
}

int main(void) {
    pthread_t thread, other;
    pthread_create(&thread, NULL, work, NULL);
    pthread_create(&other, NULL, nothing, NULL);
#ifdef C11
    thrd_detach(thread);
#else
    pthread_detach(thread);
#endif
    pthread_join(other, NULL);
    while (!atomic_load_explicit(&done, memory_order_relaxed))
        ;
    x = 3; // wrong
    return 0;
}
