// run: --property no-data-race => UNKNOWN
// native: unseen
// The index of the loop wraps around, so two threads have the first element. More threads are created than are followed.
#include "../verify.h"
#include <pthread.h>

static int parts[256];
static pthread_t threads[256];

static void *work(void *argument) {
    *(int *)argument += 1;
    return NULL;
}

int main(void) {
    int count = __VERIFIER_nondet_int(), created = 0;
    if (count < 0 || count > 300)
        return 0;
    for (unsigned char i = 0; i < count; i++) {
        if (++created == 258)
            return 0;
        pthread_create(&threads[i], NULL, work, &parts[i]);
    }
    return 0;
}
