// run: --property unreach-call -DSTRING => UNKNOWN
// run: --property unreach-call -DSTRUCT => UNKNOWN
// run: --property unreach-call -DSTRUCT -DLOCKED => TRUE
// run: --32 --property unreach-call => UNKNOWN
// run: --property unreach-call => TRUE
// A library function, a copy of a struct, and an access of two words are no single step of a thread.
#include "../verify.h"
#include <pthread.h>
#include <string.h>

static struct parts {
    int first, middle[3], last;
} parts;
static char text[8];
static long long number;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

static void lock(void) {
#ifdef LOCKED
    pthread_mutex_lock(&mutex);
#endif
}

static void unlock(void) {
#ifdef LOCKED
    pthread_mutex_unlock(&mutex);
#endif
}

static void *work(void *argument) {
    struct parts ones = {1, {1, 1, 1}, 1};
    lock();
#if defined STRING
    strcpy(text, argument);
#elif defined STRUCT
    parts = ones;
#else
    number = -1;
#endif
    unlock();
    return NULL;
}

int main(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, work, "aa");
    lock();
    strcpy(text, "bb");
    struct parts now = parts;
    long long seen = number;
    unlock();
    pthread_join(thread, NULL);
#ifdef STRING
    if (text[0] != text[1])
        reach_error(); // wrong
#endif
    if (now.first != now.last || seen != 0 && seen != -1)
        reach_error(); // wrong
    return 0;
}
