// A thread copies a structure with padding, which nobody writes. A copy of uninitialised bytes is no use of them; a
// comparison of the copy is.
// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// run: -DUSED => UNKNOWN
#include "../verify.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct pair {
    char tag;
    long value;
    long factors[2];
};

static struct pair shared;

static struct pair made(long value) {
    struct pair pair;
    pair.tag = 'p';
    pair.value = value;
    pair.factors[0] = pair.factors[1] = value;
    return pair;
}

static void *work(void *text) {
    shared = made(atoi(text));
#ifdef USED
    struct pair other = made(42);
    assert(memcmp(&other, &shared, sizeof other) == 0);
#endif
    return NULL;
}

int main(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, "42") != 0)
        return 1;
    pthread_join(thread, NULL);
#ifdef BUG
    assert(shared.value != 42); // wrong
#else
    assert(shared.tag == 'p' && shared.value == 42);
#endif
}
