// run: --property unreach-call => TRUE
// run: --property no-data-race => TRUE
// run: --property unreach-call -DPLAIN => FALSE(unreach-call)
// run: --property no-data-race -DPLAIN => FALSE(no-data-race)
// run: --property no-data-race -DRELAXED => FALSE(no-data-race)
// run: --property unreach-call -DRELAXED => UNKNOWN
// A message is passed by an atomic flag. A relaxed flag orders nothing (C17, 5.1.2.4).
#include "../verify.h"
#include <pthread.h>
#include <stdatomic.h>

static int message;
#ifdef PLAIN
static int ready, turns;
#else
static atomic_int ready, turns;
#endif

static void *send(void *unused) {
    message = 42; // wrong
#ifdef RELAXED
    atomic_store_explicit(&ready, 1, memory_order_relaxed);
#else
    ready = 1; // wrong
#endif
    turns++; // wrong
    return unused;
}

int main(void) {
    pthread_t sender;
    pthread_create(&sender, NULL, send, NULL);
    turns++; // wrong
#ifdef RELAXED
    int is_ready = atomic_load_explicit(&ready, memory_order_relaxed);
#else
    int is_ready = ready; // wrong
#endif
    if (is_ready && message != 42) // wrong
        reach_error(); // wrong
    pthread_join(sender, NULL);
    if (turns != 2)
        reach_error(); // wrong
    return 0;
}
