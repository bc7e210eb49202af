// run: --property unreach-call => TRUE
// run: --property no-data-race => TRUE
// run: --property unreach-call -DWRONG => FALSE(unreach-call)
// run: --property unreach-call -DCOMPUTED => TRUE
// Inputs that are only compared with constants: one value for each outcome is tried.
#include "../verify.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int level;

static void *changes(void *unused) {
    int by = __VERIFIER_nondet_int();
    pthread_mutex_lock(&mutex);
    if (by == 77)
        level = 1;
    else if (by < -1000)
        level = 2;
    else
        level = 0;
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, 0, changes, 0);
    changes(0);
    pthread_join(thread, 0);
#ifdef WRONG
    if (level == 2)
        reach_error(); // wrong
#endif
#ifdef COMPUTED
    int n = __VERIFIER_nondet_int();
    if (n * n == 49)
        level = 0;
#endif
    if (level > 2)
        reach_error();
    return 0;
}
