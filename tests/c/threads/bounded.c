// run: --property unreach-call -DLOCKED => TRUE
// run: --property unreach-call => FALSE(unreach-call)
// run: --property no-overflow -DLOCKED -DSMALL => TRUE
// run: --property no-overflow -DLOCKED => FALSE(no-overflow)
// run: --property unreach-call -DLOCKED -DROUNDS=20 => UNKNOWN
// run: --property unreach-call -DRECURSIVE => FALSE(unreach-call)
// run: --property unreach-call -DLOCKED -DJOINED_LATER => FALSE(unreach-call)
// run: --property unreach-call -DLOCKED -DOUTSIDE => UNKNOWN
// native: unseen
// Ordering constraints without a solution prove a program with bounded loops, for all inputs.
#define _GNU_SOURCE
#include "../verify.h"
#include <pthread.h>

#ifndef ROUNDS
#define ROUNDS 1
#endif
#ifdef RECURSIVE
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
#else
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
#endif
static pthread_t late;
static int step, total, reached, seen;
static int pair[2], behind[2];

static void *add(void *unused) {
    int amount = step;
    for (int i = 0; i < ROUNDS; i++) {
#if defined LOCKED || defined RECURSIVE
        pthread_mutex_lock(&mutex);
#ifdef RECURSIVE
        pthread_mutex_lock(&mutex);
        reached = 1; // wrong
        pthread_mutex_unlock(&mutex);
#endif
#endif
        int sum = total + amount; // wrong
        total = sum; // wrong
#if defined LOCKED || defined RECURSIVE
        pthread_mutex_unlock(&mutex);
#endif
    }
    return unused;
}

#ifdef JOINED_LATER
static void *set(void *unused) {
    seen = step;
    return unused;
}

static void *wait(void *unused) {
    pthread_mutex_lock(&mutex);
    int ready = reached;
    pthread_mutex_unlock(&mutex);
    if (ready) {
        pthread_join(late, NULL);
        if (seen == 77)
            reach_error(); // wrong
    }
    return unused;
}
#endif

int main(void) {
    pthread_t one, other;
    step = __VERIFIER_nondet_int();
#if defined SMALL || !defined LOCKED
    if (step < 1 || step > 1000)
        return 0;
#endif
#ifdef JOINED_LATER
    pthread_create(&one, NULL, wait, NULL);
    pthread_create(&late, NULL, set, NULL);
    pthread_mutex_lock(&mutex);
    reached = 1;
    pthread_mutex_unlock(&mutex);
    pthread_join(one, NULL);
    return 0;
#endif
    pthread_create(&one, NULL, add, NULL);
    pthread_create(&other, NULL, add, NULL);
    pthread_join(one, NULL);
    pthread_join(other, NULL);
#ifdef OUTSIDE
    pair[step & 2] = 1;
    if (behind[0])
        reach_error();
#endif
#ifdef RECURSIVE
    if (reached)
        reach_error(); // wrong
#endif
    if ((unsigned)total != 2u * ROUNDS * (unsigned)step) // wrong
        reach_error(); // wrong
    return 0;
}
