// run: --property no-data-race => TRUE
// run: --property no-data-race -DINPUT => TRUE
// run: --property no-data-race -DREAD => UNKNOWN
// run: --property no-data-race -DREAD -DINPUT => UNKNOWN
// run: --property no-data-race -DPRINTED => UNKNOWN
// run: --property no-data-race -DCALLED => UNKNOWN
// run: --property no-data-race -DWRITTEN => UNKNOWN
// A function of the library accesses memory that another thread writes. A proof must not ignore such accesses.
#include "../verify.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static char text[8] = "ab";

#if defined READ || defined PRINTED || defined CALLED || defined WRITTEN
#define lock() ((void)0)
#define unlock() ((void)0)
#else
#define lock() pthread_mutex_lock(&mutex)
#define unlock() pthread_mutex_unlock(&mutex)
#endif

static int compare(const void *a, const void *b) {
    return (int)strlen(a) - (int)strlen(b);
}

static void *change(void *unused) {
    pthread_mutex_lock(&mutex);
#ifdef WRITTEN
    int is_equal = text[0] == text[1];
    (void)is_equal;
#else
    text[0] = 'x';
#endif
    pthread_mutex_unlock(&mutex);
    return unused;
}

int main(void) {
    pthread_t thread;
    char own[2][4] = {"b", "a"};
    int is_long = 1;
#ifdef INPUT
    is_long = __VERIFIER_nondet_int();
#endif
    pthread_create(&thread, 0, change, 0);
    own[0][0] = 'c';
    is_long += strlen(own[0]) > 1;
    lock();
    if (is_long) {
#ifdef PRINTED
        printf("%s", text);
#elif defined CALLED
        qsort(text, 2, 4, compare);
#elif defined WRITTEN
        strcpy(text, own[1]);
#else
        is_long = strlen(text) > 1;
#endif
    }
    unlock();
    pthread_join(thread, 0);
    return (int)strlen(text);
}
