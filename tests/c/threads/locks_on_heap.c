// run: --check thread,address => TRUE
// run: --property valid-deref -DLATE => FALSE(valid-deref)
// run: --property valid-deref -DFLAG => FALSE(valid-deref)
// run: --check thread,address,deadlock -DJOINED => TRUE
// A lock in an object that the last user frees. A thread that only knows that another thread holds the lock must not free it.
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

struct counted {
    pthread_mutex_t mutex;
    int users;
};

static struct counted *object;
static atomic_int flag;

static void put(struct counted *counted) {
    pthread_mutex_lock(&counted->mutex);
    int left = --counted->users;
    pthread_mutex_unlock(&counted->mutex);
#ifndef JOINED
    if (left == 0)
        free(counted);
#endif
#ifdef LATE
    pthread_mutex_lock(&counted->mutex); // wrong
    pthread_mutex_unlock(&counted->mutex);
#endif
}

static void *work(void *argument) {
#ifdef FLAG
    struct counted *counted = argument;
    pthread_mutex_lock(&counted->mutex);
    atomic_store(&flag, 1);
    pthread_mutex_unlock(&counted->mutex); // wrong
#else
    put(argument);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    object = malloc(sizeof *object);
    pthread_mutex_init(&object->mutex, NULL);
    object->users = 2;
    pthread_create(&thread, NULL, work, object);
#ifdef FLAG
    while (!atomic_load(&flag))
        ;
    free(object);
#else
    put(object);
#endif
    pthread_join(thread, NULL);
#ifdef JOINED
    pthread_mutex_destroy(&object->mutex);
    free(object);
#endif
    return 0;
}
