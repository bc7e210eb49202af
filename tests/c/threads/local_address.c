// run: --property unreach-call => TRUE
// run: --property unreach-call -DWRONG => FALSE(unreach-call)
// A thread publishes the address of its own copy of a thread-local variable, which is shared from there on.
#include "../verify.h"
#include <pthread.h>
#include <stdatomic.h>

static _Thread_local int own;
static int *_Atomic published;
static atomic_int done;

static void *publish(void *argument) {
    published = &own;
    own = 1;
    own = 2;
    while (!done)
        ;
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, publish, NULL);
    int *theirs = published;
    if (theirs) {
        int value = *theirs;
#ifdef WRONG
        assert(value != 1); // wrong
#else
        assert(value <= 2);
#endif
    }
    done = 1;
    pthread_join(thread, NULL);
    assert(own == 0);
    return 0;
}
