// run: => TRUE
// run: -DBUG => FALSE(unreach-call)
// native: unseen
// threads.h and stdatomic.h (which need no library) in a program with a single thread.
#include <stdatomic.h>
#include <threads.h>
#include "../verify.h"

static int calls;
static void once(void) { calls++; }

struct large {
    int content[5];
};
static _Atomic struct large shared;

int main(void) {
    mtx_t mutex;
    check(mtx_init(&mutex, mtx_plain | mtx_recursive) == thrd_success);
    check(mtx_lock(&mutex) == thrd_success && mtx_trylock(&mutex) == thrd_success);
    check(mtx_unlock(&mutex) == thrd_success && mtx_unlock(&mutex) == thrd_success);
    static once_flag flag = ONCE_FLAG_INIT;
    call_once(&flag, once);
    call_once(&flag, once);
    check(calls == 1 && thrd_equal(thrd_current(), thrd_current()));
    int value = __VERIFIER_nondet_int();
    tss_t key;
    check(tss_create(&key, NULL) == thrd_success && tss_set(key, &value) == thrd_success && tss_get(key) == &value);

    struct large now = atomic_load(&shared), next = {{1, 2, 3, 4, value}};
    check(atomic_compare_exchange_strong(&shared, &now, next));
    check(!atomic_compare_exchange_strong(&shared, &now, next) && now.content[4] == value);
    atomic_flag busy = ATOMIC_FLAG_INIT;
    check(!atomic_flag_test_and_set(&busy) && atomic_flag_test_and_set(&busy));
#ifdef BUG
    next = atomic_exchange(&shared, now);
    check(next.content[4] != 5); // wrong
#endif
    return 0;
}
