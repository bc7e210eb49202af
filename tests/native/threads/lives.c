// The lives of threads: results, joins, detached threads, thread-specific data, and `pthread_once`.
#include "see.h"

static pthread_key_t keys[3];
static pthread_t first;
static int values[4];

static void *gives(void *argument) { return argument; }
static void *exits(void *argument) {
    pthread_exit(argument);
    return NULL;
}
static void *joins_itself(void *unused) {
    see(pthread_equal(pthread_self(), pthread_self()) != 0);
    see(pthread_equal(pthread_self(), first) != 0);
    return (void *)(long)pthread_join(pthread_self(), NULL);
}
static sem_t goes, gone;
static void *stays(void *unused) {
    sem_wait(&goes);
    sem_post(&gone);
    return NULL;
}

static int rounds;
static void first_destructor(void *value) {
    see(1);
    see((int *)value - values);
    see(pthread_getspecific(keys[0]) == NULL);
    if (rounds++ < 6)
        see(pthread_setspecific(keys[0], value));
}
static void second_destructor(void *value) {
    see(2);
    see((int *)value - values);
    see(pthread_getspecific(keys[0]) == NULL);
}
static void *keeps(void *argument) {
    for (int i = 0; i < 3; i++)
        see(pthread_getspecific(keys[i]) == NULL);
    see(pthread_setspecific(keys[1], &values[2]));
    see(pthread_setspecific(keys[0], &values[1]));
    see(pthread_setspecific(keys[2], &values[3]));
    see(pthread_getspecific(keys[1]) == &values[2]);
    if (argument)
        pthread_exit(argument);
    return NULL;
}

static int runs;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static void run(void) { runs++; }
static void *runs_once(void *unused) { return (void *)(long)pthread_once(&once, run); }

int main(void) {
    first = pthread_self();
    see(apart(gives, &values[1]) == &values[1]);
    see(apart(exits, &values[2]) == &values[2]);
    see((long)apart(joins_itself, NULL));
    see(pthread_join(pthread_self(), NULL));

    sem_init(&goes, 0, 0);
    sem_init(&gone, 0, 0);
    pthread_t thread;
    pthread_attr_t attributes;
    int state = 7;
    see(pthread_create(&thread, NULL, stays, NULL));
    see(pthread_detach(thread));
    see(pthread_detach(thread));
    see(pthread_join(thread, NULL));
    sem_post(&goes);
    sem_wait(&gone);
    see(pthread_attr_init(&attributes));
    see(pthread_attr_setdetachstate(&attributes, 7));
    see(pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED));
    see(pthread_attr_getdetachstate(&attributes, &state));
    see(state);
    see(pthread_create(&thread, &attributes, stays, NULL));
    see(pthread_attr_destroy(&attributes));
    see(pthread_detach(thread));
    see(pthread_join(thread, NULL));
    sem_post(&goes);
    sem_wait(&gone);

    see(pthread_key_create(&keys[0], first_destructor));
    see(pthread_key_create(&keys[1], second_destructor));
    see(pthread_key_create(&keys[2], NULL));
    see(pthread_setspecific(keys[1], &values[1]));
    apart(keeps, NULL);
    see(apart(keeps, &values[2]) == &values[2]);
    see(pthread_getspecific(keys[1]) == &values[1]);
    see(pthread_key_delete(keys[2]));
    see(pthread_key_delete(keys[2]));
    see(pthread_setspecific(keys[2], values));

    see(pthread_once(&once, run));
    see((long)apart(runs_once, NULL));
    see(runs);
    report(seen);
}
