// Condition variables: signals, and waits with a time limit.
#include "see.h"

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn;

static void wait_for(int value) {
    pthread_mutex_lock(&mutex);
    while (turn != value)
        pthread_cond_wait(&changed, &mutex);
}
static void go_on(void) {
    turn++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&mutex);
}

static void *answers(void *unused) {
    wait_for(1);
    see(1);
    go_on();
    wait_for(3);
    see(3);
    go_on();
    return NULL;
}
static void *signals(void *unused) {
    see(pthread_mutex_lock(&mutex));
    turn = 9;
    see(pthread_cond_signal(&changed));
    see(pthread_mutex_unlock(&mutex));
    return NULL;
}

int main(void) {
    pthread_t thread;
    int result;
    see(pthread_create(&thread, NULL, answers, NULL));
    wait_for(0);
    see(0);
    go_on();
    wait_for(2);
    see(2);
    go_on();
    see(pthread_join(thread, NULL));

    see(pthread_mutex_lock(&mutex));
    while ((result = pthread_cond_timedwait(&changed, &mutex, &past)) == 0)
        ;
    see(result);
    see(pthread_mutex_trylock(&mutex));
    see(pthread_cond_timedwait(&changed, &mutex, &wrong));
    see(pthread_mutex_trylock(&mutex));
    struct timespec later = {time(NULL) + 1000, 0};
    see(pthread_create(&thread, NULL, signals, NULL));
    while (turn != 9)
        if (pthread_cond_timedwait(&changed, &mutex, &later) == EINVAL)
            see(7);
    see(pthread_mutex_unlock(&mutex));
    see(pthread_join(thread, NULL));
    see(pthread_cond_destroy(&changed));
    report(seen);
}
