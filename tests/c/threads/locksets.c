// run: --property no-data-race => TRUE
// run: --property no-data-race -DBUG => FALSE(no-data-race)
// Locks that protect data from any number of threads, which depends on an input: one at a fixed address, and one in an
// element of an array. Other data is only accessed before the threads start, and after a thread was joined.
#include "../verify.h"
#include <pthread.h>
#include <stdlib.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    pthread_mutex_t lock;
    int uses;
} entries[2];
static int count, limit, result;

static void use(int n) {
    pthread_mutex_lock(&entries[n].lock);
    pthread_mutex_lock(&lock);
    entries[n].uses++;
    if (count < limit) // wrong
        count++; // wrong
    pthread_mutex_unlock(&lock);
    pthread_mutex_unlock(&entries[n].lock);
}

static void *work(void *argument) {
    int own[2] = {0, 1};
    int *which = own;
    for (int n = 0; n < 2; n++)
        use(which[n]);
#ifdef BUG
    count++; // wrong
#endif
    return argument;
}

static void *compute(void *argument) {
    result = limit + 1;
    return argument;
}

int main(void) {
    limit = __VERIFIER_nondet_int();
    for (int n = 0; n < 2; n++)
        pthread_mutex_init(&entries[n].lock, NULL);
    pthread_t computer, worker;
    pthread_create(&computer, NULL, compute, NULL);
    int threads = __VERIFIER_nondet_int();
    for (int n = 0; n < threads; n++)
        pthread_create(&worker, NULL, work, NULL);
    pthread_join(computer, NULL);
    return result > 3;
}
