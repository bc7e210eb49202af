// An undefined function may call back. So the absence of calls that lead to a check is no proof.
// run: -DFUNCTION => UNKNOWN
// run: --check signed-integer-overflow -DFUNCTION => UNKNOWN
// run: --check unreach-call -DFUNCTION => UNKNOWN
// run: --property unreach-call -DFUNCTION => UNKNOWN
// run: -DSIGNAL => UNKNOWN
// run: --check signed-integer-overflow -DTHREAD => FALSE(signed-integer-overflow)
// run: --check leak -DMEMORY => UNKNOWN
// run: -DMEMORY --undefined-functions any-value => TRUE
// run: => TRUE
#include "../verify.h"
#include <limits.h>
#include <pthread.h>
#include <signal.h>

static int count = INT_MAX;

static void more(int by) {
    count += by; // wrong
    if (by == 3)
        reach_error();
}

static void *thread(void *p) {
    more(1);
    return p;
}

void for_each(void (*f)(int));
void *new_object(void);

int main(void) {
#ifdef FUNCTION
    for_each(more);
#elif defined SIGNAL
    signal(SIGUSR1, more);
    raise(SIGUSR1);
#elif defined THREAD
    pthread_t t;
    pthread_create(&t, 0, thread, 0);
    pthread_join(t, 0);
#elif defined MEMORY
    return new_object() == 0;
#endif
    (void)more, (void)thread;
    return 0;
}
