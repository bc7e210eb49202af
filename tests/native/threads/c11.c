// The threads of C11.
#include "see.h"

static mtx_t mutex;
static cnd_t changed;
static int turn, runs, values[3];
static tss_t key;
static once_flag once = ONCE_FLAG_INIT;

static int apart_c11(int (*function)(void *), void *argument) {
    thrd_t thread;
    int result = -7;
    int created = thrd_create(&thread, function, argument), joined = thrd_join(thread, &result);
    see(created);
    see(joined);
    return result;
}

static int tries(void *unused) {
    see(mtx_trylock(&mutex));
    see(mtx_timedlock(&mutex, &past));
    return -3;
}
static int takes(void *unused) {
    see(mtx_trylock(&mutex));
    see(mtx_unlock(&mutex));
    thrd_exit(5);
}
static int joins_itself(void *unused) { return thrd_join(thrd_current(), NULL); }
static void destroy(void *value) {
    see((int *)value - values);
    see(tss_get(key) == NULL);
}
static int keeps(void *unused) {
    see(tss_get(key) == NULL);
    see(tss_set(key, &values[2]));
    see(tss_get(key) == &values[2]);
    return 0;
}
static void run(void) { runs++; }
static int runs_once(void *unused) {
    call_once(&once, run);
    return runs;
}
static int answers(void *unused) {
    see(mtx_lock(&mutex));
    turn = 1;
    see(cnd_signal(&changed));
    see(mtx_unlock(&mutex));
    return 0;
}
static int stays(void *semaphore) {
    sem_post(semaphore);
    return 0;
}

int main(void) {
    static const int types[] = {mtx_plain, mtx_timed, mtx_plain | mtx_recursive, mtx_timed | mtx_recursive};
    for (int i = 0; i < 4; i++) {
        see(mtx_init(&mutex, types[i]));
        see(mtx_lock(&mutex));
        see(mtx_trylock(&mutex));
        see(apart_c11(tries, NULL));
        if (types[i] & mtx_recursive) {
            see(mtx_lock(&mutex));
            see(mtx_unlock(&mutex));
            see(mtx_unlock(&mutex));
        }
        see(mtx_unlock(&mutex));
        see(apart_c11(takes, NULL));
        mtx_destroy(&mutex);
    }
    see(apart_c11(joins_itself, NULL));
    see(tss_create(&key, destroy));
    see(tss_set(key, &values[1]));
    see(apart_c11(keeps, NULL));
    see(tss_get(key) == &values[1]);
    tss_delete(key);
    call_once(&once, run);
    see(apart_c11(runs_once, NULL));

    thrd_t thread;
    int result;
    see(mtx_init(&mutex, mtx_timed));
    see(cnd_init(&changed));
    see(mtx_lock(&mutex));
    while ((result = cnd_timedwait(&changed, &mutex, &past)) == thrd_success)
        ;
    see(result);
    see(mtx_trylock(&mutex));
    see(thrd_create(&thread, answers, NULL));
    while (!turn)
        if (cnd_wait(&changed, &mutex) != thrd_success)
            see(7);
    see(mtx_unlock(&mutex));
    see(thrd_join(thread, NULL));
    see(cnd_broadcast(&changed));
    cnd_destroy(&changed);

    sem_t semaphore;
    sem_init(&semaphore, 0, 0);
    see(thrd_create(&thread, stays, &semaphore));
    see(thrd_detach(thread));
    sem_wait(&semaphore);
    report(seen);
}
