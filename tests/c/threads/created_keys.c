// run: --property unreach-call => TRUE
// run: --property unreach-call -DBUG => FALSE(unreach-call)
// run: --property unreach-call -DWAITS => TRUE
// A key with the number of a deleted key has no values, in any thread, and destructors get only values of existing keys.
#include "../verify.h"
#include <pthread.h>

static pthread_key_t deleted, created;
static pthread_barrier_t barrier;
static int ends;

static void end(void *value) {
    check(value == &created);
    ends++;
}

static void *keep(void *unused) {
    pthread_setspecific(deleted, &deleted);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    check(!pthread_getspecific(created));
    return 0;
}

static void *set(void *unused) {
    check(!pthread_getspecific(created));
    pthread_setspecific(created, &created);
    return 0;
}

int main(void) {
    pthread_t thread;
    pthread_key_create(&deleted, 0);
    pthread_setspecific(deleted, &deleted);
#ifdef WAITS
    pthread_barrier_init(&barrier, 0, 2);
    pthread_create(&thread, 0, keep, 0);
    pthread_barrier_wait(&barrier);
#endif
    pthread_key_delete(deleted);
    check(pthread_setspecific(deleted, &deleted) == 22 && !pthread_getspecific(deleted));
    pthread_key_create(&created, end);
    check(!pthread_getspecific(created));
#ifdef WAITS
    pthread_barrier_wait(&barrier);
#else
    pthread_create(&thread, 0, set, 0);
#endif
    pthread_join(thread, 0);
#ifndef WAITS
    check(ends == 1);
    wrong(ends != 1); // wrong
#endif
    return 0;
}
