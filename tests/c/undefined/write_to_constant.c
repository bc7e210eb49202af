// run: --check address => FALSE(address)
// run: --check address,unreach-call -DLOCAL => TRUE
// run: --property valid-deref => FALSE(valid-deref)
// run: --check address -DTHREAD => FALSE(address)
// A constant of one scalar is written by its name. The compiler stores directly to the variable then.
#include "../verify.h"
#include <pthread.h>

static const int limit = 5;

static void *nothing(void *unused) {
    return unused;
}

int main(void) {
#ifdef THREAD
    pthread_t thread;
    pthread_create(&thread, 0, nothing, 0);
    pthread_join(thread, 0);
#endif
    int is_set = __VERIFIER_nondet_int();
#ifdef LOCAL
    int copy = limit;
    *(int *)&copy = 6;
    check(copy == limit + 1);
#else
    if (is_set)
        *(int *)&limit = 6; // wrong
#endif
    nothing(&is_set);
    return 0;
}
