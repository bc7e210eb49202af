// run: --property unreach-call => TRUE
// run: --check deadlock => TRUE
// run: --property unreach-call -DWRONG => FALSE(unreach-call)
// A thread that waits for itself gets an error instead, and results of threads.
#include "../verify.h"
#include <errno.h>
#include <pthread.h>
#include <threads.h>

static void *join_itself(void *argument) {
    void *result = argument;
    int error = pthread_join(pthread_self(), &result);
    assert(error == EDEADLK);
    assert(result == argument);
    return (void *)3L;
}

static int join_itself_in_c11(void *argument) {
    assert(thrd_join(thrd_current(), NULL) == thrd_error);
    return 4;
}

int main(void) {
    pthread_t a;
    thrd_t b;
    pthread_create(&a, NULL, join_itself, NULL);
    thrd_create(&b, join_itself_in_c11, NULL);
    void *first;
    int second;
    assert(pthread_join(a, &first) == 0);
    assert(thrd_join(b, &second) == thrd_success);
    assert(first == (void *)3L);
#ifdef WRONG
    assert(second != 4); // wrong
#else
    assert(second == 4);
#endif
    return 0;
}
