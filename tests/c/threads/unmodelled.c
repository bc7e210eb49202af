// run: --property unreach-call => UNKNOWN
// run: --property unreach-call -DFORK --timeout 3 => UNKNOWN
// run: --property termination -DPLAIN => UNKNOWN
// native: unseen
// Unmodelled functions lose the verdict: asynchronous cancellation, processes, termination.
#include "../verify.h"
#include <pthread.h>
#include <unistd.h>

static void *work(void *argument) {
#if !defined FORK && !defined PLAIN
    pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, NULL);
#endif
    return argument;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, NULL);
#if defined FORK
    if (fork() == -1)
        reach_error();
#elif !defined PLAIN
    pthread_cancel(thread);
#endif
    pthread_join(thread, NULL);
    return 0;
}
