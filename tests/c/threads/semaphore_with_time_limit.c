// run: --check assertions => TRUE
// run: --check assertions -DBUG => FALSE(unreach-call)
// A wait for a semaphore may end because of its time limit.
#include <assert.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <time.h>

static sem_t ready;
static int result;

static void *work(void *unused) {
    result = 42;
    sem_post(&ready);
    return unused;
}

int main(void) {
    pthread_t worker;
    const struct timespec until = {1, 0}, wrong = {1, 1000000000};
    sem_init(&ready, 0, 0);
    assert(sem_timedwait(&ready, &wrong) == -1 && errno == EINVAL);
    pthread_create(&worker, NULL, work, NULL);
    if (sem_timedwait(&ready, &until) == 0)
        assert(result == 42);
#ifdef BUG
    else
        assert(errno == EINVAL); // wrong
#else
    else
        assert(errno == ETIMEDOUT);
#endif
    pthread_join(worker, NULL);
    return result != 42;
}
