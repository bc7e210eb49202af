// run: --property unreach-call => TRUE
// run: --check deadlock => TRUE
// run: --property unreach-call -DIF => FALSE(unreach-call)
// run: --check deadlock -DLOST => FALSE(deadlock)
// A consumer waits for a producer. A wait may end without a signal, so that `if` is not enough (POSIX, pthread_cond_wait); a signal
// that comes before the wait is lost.
#include "../verify.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static int item;

static void *produce(void *unused) {
    pthread_mutex_lock(&mutex); // wrong
    item = 7;
    pthread_cond_signal(&filled);
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t producer;
    pthread_create(&producer, NULL, produce, NULL);
    pthread_mutex_lock(&mutex); // wrong
#if defined IF
    if (!item)
        pthread_cond_wait(&filled, &mutex); // wrong
#elif defined LOST
    do
        pthread_cond_wait(&filled, &mutex); // wrong
    while (!item);
#else
    while (!item)
        pthread_cond_wait(&filled, &mutex); // wrong
#endif
    if (item != 7)
        reach_error(); // wrong
    pthread_mutex_unlock(&mutex);
    pthread_join(producer, NULL);
    return 0;
}
