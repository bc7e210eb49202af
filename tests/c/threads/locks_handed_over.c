// run: --property no-data-race => TRUE
// run: --property no-data-race -DLATE_SIGNAL => FALSE(no-data-race)
// run: --property no-data-race -DWAITING => UNKNOWN
// native: unseen
// A thread destroys locks that another thread no longer uses, as POSIX permits after an unlock, a post, a signal or a
// barrier that orders it. A thread may wait for a condition variable when it is destroyed: that has no defined behaviour.
#include "../verify.h"
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>

struct task {
    pthread_mutex_t mutex;
    pthread_cond_t condition;
    pthread_barrier_t barrier;
    sem_t semaphore;
    int references, is_ready, waits;
};

static void drop(struct task *task) {
    pthread_mutex_lock(&task->mutex);
    int is_last = --task->references == 0;
    pthread_mutex_unlock(&task->mutex);
    if (is_last) {
        pthread_mutex_destroy(&task->mutex);
        free(task);
    }
}

static void *work(void *argument) {
    struct task *task = argument;
    pthread_barrier_wait(&task->barrier);
    sem_post(&task->semaphore);
    pthread_mutex_lock(&task->mutex);
#ifdef WAITING
    task->waits = 1;
    pthread_cond_wait(&task->condition, &task->mutex);
    pthread_mutex_unlock(&task->mutex);
    return NULL;
#endif
    task->is_ready = 1;
#ifdef LATE_SIGNAL
    pthread_mutex_unlock(&task->mutex);
    pthread_cond_signal(&task->condition); // wrong
#else
    pthread_cond_signal(&task->condition);
    pthread_mutex_unlock(&task->mutex);
#endif
    drop(task);
    return NULL;
}

int main(void) {
    pthread_t thread;
    struct task *task = calloc(1, sizeof *task);
    task->references = 2;
    pthread_mutex_init(&task->mutex, NULL);
    pthread_cond_init(&task->condition, NULL);
    pthread_barrier_init(&task->barrier, NULL, 2);
    sem_init(&task->semaphore, 0, 0);
    pthread_create(&thread, NULL, work, task);
    pthread_barrier_wait(&task->barrier);
    pthread_barrier_destroy(&task->barrier);
    sem_wait(&task->semaphore);
    sem_destroy(&task->semaphore);
    pthread_mutex_lock(&task->mutex);
#ifdef WAITING
    if (!task->waits)
        return 0;
#else
    while (!task->is_ready)
        pthread_cond_wait(&task->condition, &task->mutex);
#endif
    pthread_mutex_unlock(&task->mutex);
    pthread_cond_destroy(&task->condition); // wrong
    drop(task);
    pthread_join(thread, NULL);
    return 0;
}
