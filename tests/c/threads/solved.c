// run: --property unreach-call => FALSE(unreach-call)
// run: --property unreach-call -DLOCKED => FALSE(unreach-call)
// run: --property unreach-call -DORDERED => TRUE
// native: unseen
// A violation needs one input of 2^32 and a certain interleaving, which a solver finds together.
#include "../verify.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static unsigned x, y;

static void *scramble(void *unused) {
    unsigned key = __VERIFIER_nondet_uint();
    for (int i = 0; i < 2; i++) {
        pthread_mutex_lock(&mutex);
        x = x * 2654435761u + key; // wrong
        pthread_mutex_unlock(&mutex);
    }
    return unused;
}

static void *copy(void *unused) {
#if defined LOCKED || defined ORDERED
    pthread_mutex_lock(&mutex);
    y = x; // wrong
    pthread_mutex_unlock(&mutex);
#else
    y = x; // wrong
#endif
    return unused;
}

int main(void) {
    pthread_t one, other;
    pthread_create(&one, NULL, scramble, NULL);
#ifdef ORDERED
    pthread_join(one, NULL);
#endif
    pthread_create(&other, NULL, copy, NULL);
#ifndef ORDERED
    pthread_join(one, NULL);
#endif
    pthread_join(other, NULL);
    if (y == 123456789 && x != y)
        reach_error(); // wrong
    return 0;
}
