// run: --check address -DFUNCTION => FALSE(address)
// run: --check address -DFUNCTION -DGATE => FALSE(address)
// run: --check address -DJOINED => TRUE
// An object of one thread's stack, which another thread uses, may end with its function before the other thread does.
#include "gate.h"
#include <semaphore.h>

static sem_t semaphore;
static pthread_t thread;

static void *work(void *argument) {
    sem_post(&semaphore);
    (*(int *)argument)++; // wrong
    return NULL;
}

static void start(void) {
    int x = 1;
    pthread_create(&thread, NULL, work, &x);
    sem_wait(&semaphore);
#ifdef JOINED
    pthread_join(thread, NULL);
#endif
}

int main(void) {
    sem_init(&semaphore, 0, 0);
#ifdef GATE
    if (!pass_gate())
        return 0;
#endif
    start();
#ifndef JOINED
    pthread_join(thread, NULL);
#endif
    return 0;
}
