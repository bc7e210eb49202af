// run: --property unreach-call => TRUE
// run: --property no-data-race => TRUE
// run: --property unreach-call -DUNLOCKED => FALSE(unreach-call)
// run: --property no-data-race -DUNLOCKED => FALSE(no-data-race)
// run: --check thread -DUNLOCKED => FALSE(thread)
// Two threads count; without the mutex, an update may be lost.
#include "../verify.h"
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count(void *times) {
    for (int i = 0; i < *(int *)times; i++) {
#ifndef UNLOCKED
        pthread_mutex_lock(&mutex);
#endif
        counter++; // wrong
#ifndef UNLOCKED
        pthread_mutex_unlock(&mutex);
#endif
    }
    return NULL;
}

int main(void) {
    pthread_t first, second;
    int times = 2;
    pthread_create(&first, NULL, count, &times);
    pthread_create(&second, NULL, count, &times);
    pthread_join(first, NULL);
    pthread_join(second, NULL);
    if (counter != 4)
        reach_error(); // wrong
    return 0;
}
