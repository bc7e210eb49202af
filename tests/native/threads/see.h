// Programs with threads whose result depends on no schedule. `see` adds a value to the result. If UPTO is defined, the
// program ends at the value with this number, with the value as its result.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

static unsigned seen = 2166136261u;

static void see(long long value) {
#ifdef UPTO
    static int count;
    if (count++ == UPTO)
        report((unsigned)value);
#endif
    seen = fold(seen, (unsigned long long)value);
}

// Runs a function in a thread of its own, and waits for its end. Returns its result.
static void *apart(void *(*function)(void *), void *argument) {
    pthread_t thread;
    void *result = 0;
    int created = pthread_create(&thread, NULL, function, argument), joined = pthread_join(thread, &result);
    see(created);
    see(joined);
    return result;
}

static const struct timespec past = {1, 0}, wrong = {1, 1000000000}, negative = {1, -1};
