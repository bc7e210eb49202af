// run: --check address -DGATE => FALSE(address)
// run: --check address -DJOINED => TRUE
// native: unseen
// An object of a block of one thread, which another thread uses, may end with the block before the other thread does.
#include "gate.h"
#include <semaphore.h>

static sem_t semaphore;
static pthread_t thread;

static void *work(void *argument) {
    sem_post(&semaphore);
    (*(int *)argument)++; // wrong
    return NULL;
}

int main(void) {
    sem_init(&semaphore, 0, 0);
#ifdef GATE
    if (!pass_gate())
        return 0;
#endif
    {
        int x = 1;
        pthread_create(&thread, NULL, work, &x);
        sem_wait(&semaphore);
#ifdef JOINED
        pthread_join(thread, NULL);
#endif
    }
#ifndef JOINED
    pthread_join(thread, NULL);
#endif
    return 0;
}
