// run: --property unreach-call => TRUE
// run: --property no-data-race => TRUE
// run: --property unreach-call -DSHARED => FALSE(unreach-call)
// Thread-local variables, thread-specific data with a destructor, results of threads, and atomic blocks.
#include "../verify.h"
#include <pthread.h>

extern void __VERIFIER_atomic_begin(void);
extern void __VERIFIER_atomic_end(void);

#ifndef SHARED
_Thread_local
#endif
static int own = 3;
static int sum, destroyed;
static pthread_key_t key;

static void destroy(void *value) {
    __VERIFIER_atomic_begin();
    destroyed += *(int *)value;
    __VERIFIER_atomic_end();
}

static void *work(void *argument) {
    pthread_setspecific(key, argument);
    own += *(int *)argument;
    __VERIFIER_atomic_begin();
    sum += own;
    __VERIFIER_atomic_end();
    return pthread_getspecific(key);
}

int main(void) {
    pthread_t first, second;
    static int one = 1, two = 2;
    void *result;
    pthread_key_create(&key, destroy);
    pthread_create(&first, NULL, work, &one);
    pthread_create(&second, NULL, work, &two);
    pthread_join(first, &result);
    if (result != &one)
        reach_error(); // wrong
    pthread_join(second, &result);
    if (result != &two || sum != 9 || destroyed != 3 || own != 3)
        reach_error(); // wrong
    return 0;
}
