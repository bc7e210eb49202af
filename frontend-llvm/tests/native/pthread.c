// pthread.h and semaphore.h in a program with one thread, without calls that block.
#include "harness.h"
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <time.h>

static const struct timespec past = {1, 0}, wrong = {1, 1000000000};

// A mutex of each kind, initialised by attributes or by a static initialiser.
DRIVER(mutex) {
    pthread_mutex_t mutex = ONE_OF((pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER,
                                   (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                                   (pthread_mutex_t)PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP,
                                   (pthread_mutex_t)PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP);
    int kind = mutex.__data.__kind;
    if (random_below(2)) {
        pthread_mutexattr_t attributes;
        see(LIB(pthread_mutexattr_init)(&attributes));
        kind = (int)random_below(6) - 1;
        see(LIB(pthread_mutexattr_settype)(&attributes, kind));
        see(LIB(pthread_mutexattr_gettype)(&attributes, &kind));
        see(kind);
        see(LIB(pthread_mutex_init)(&mutex, random_below(4) ? &attributes : (kind = 0, NULL)));
        see(LIB(pthread_mutexattr_destroy)(&attributes));
    }
    int locked = 0;
    for (int i = 0; i < 8; i++) {
        _Bool blocks = locked && (kind == 0 || kind == 3);
        unsigned what = random_below(5);
        say("%u", what);
        int result = 0;
        if (what == 0 && !blocks)
            result = LIB(pthread_mutex_lock)(&mutex), locked += !result;
        else if (what == 1)
            result = LIB(pthread_mutex_trylock)(&mutex), locked += !result;
        else if (what == 2)
            result = LIB(pthread_mutex_timedlock)(&mutex, &past), locked += !result;
        else if (what == 3 && (locked || kind == 1 || kind == 2))
            result = LIB(pthread_mutex_unlock)(&mutex), locked -= !result;
        else if (what == 4 && !locked && random_below(4) == 0)
            result = LIB(pthread_mutex_destroy)(&mutex), i = 8;
        see(result);
    }
}

static int runs;
static void run(void) { runs++; }
DRIVER(pthread_once) {
    pthread_once_t once = PTHREAD_ONCE_INIT;
    runs = 0;
    for (unsigned n = random_below(4); n > 0; n--)
        see(LIB(pthread_once)(&once, run));
    see(runs);
}

DRIVER(conditions) {
    asks_environment();
    pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (random_below(2))
        see(LIB(pthread_cond_init)(&condition, NULL));
    see(LIB(pthread_mutex_lock)(&mutex));
    see(LIB(pthread_cond_signal)(&condition));
    see(LIB(pthread_cond_timedwait)(&condition, &mutex, random_below(3) ? &past : &wrong));
    see(LIB(pthread_mutex_trylock)(&mutex));
    see(LIB(pthread_mutex_unlock)(&mutex));
    see(LIB(pthread_cond_broadcast)(&condition));
    see(LIB(pthread_cond_destroy)(&condition));
}

DRIVER(rwlock) {
    pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
    if (random_below(2))
        see(LIB(pthread_rwlock_init)(&lock, NULL));
    int readers = 0, writers = 0;
    for (int i = 0; i < 8; i++) {
        int result = 0;
        switch (random_below(5)) {
        case 0:
            result = LIB(pthread_rwlock_rdlock)(&lock), readers += !result;
            break;
        case 1:
            result = LIB(pthread_rwlock_tryrdlock)(&lock), readers += !result;
            break;
        case 2:
            result = readers ? 0 : LIB(pthread_rwlock_wrlock)(&lock), writers += !result && !readers;
            break;
        case 3:
            result = LIB(pthread_rwlock_trywrlock)(&lock), writers += !result;
            break;
        default:
            if (readers || writers) {
                result = LIB(pthread_rwlock_unlock)(&lock);
                writers ? writers-- : readers--;
            }
        }
        see(result);
    }
}

DRIVER(spin) {
    pthread_spinlock_t lock;
    see(LIB(pthread_spin_init)(&lock, 0));
    see(LIB(pthread_spin_lock)(&lock));
    see(LIB(pthread_spin_trylock)(&lock));
    see(LIB(pthread_spin_unlock)(&lock));
    see(LIB(pthread_spin_trylock)(&lock));
    see(LIB(pthread_spin_destroy)(&lock));
}

DRIVER(keys) {
    static int values[3];
    pthread_key_t keys[3];
    for (int i = 0; i < 3; i++) {
        see(LIB(pthread_key_create)(&keys[i], NULL));
        see(keys[i]);
        see(LIB(pthread_getspecific)(keys[i]) == NULL);
    }
    for (int i = 0; i < 4; i++) {
        unsigned n = random_below(3);
        see(LIB(pthread_setspecific)(keys[n], random_below(4) ? &values[i % 3] : NULL));
        for (int j = 0; j < 3; j++)
            see(LIB(pthread_getspecific)(keys[n]) == &values[j]);
    }
    for (int i = 0; i < 3; i++)
        see(LIB(pthread_key_delete)(keys[i]));
    see(LIB(pthread_key_delete)(keys[0]));
    see(LIB(pthread_setspecific)(keys[1], values));
    see(LIB(pthread_getspecific)(keys[2]) == NULL);
}

DRIVER(cancel) {
    int state = 7, type = 7, wrong = (int)random_below(5) - 2;
    see(LIB(pthread_setcancelstate)(wrong, random_below(2) ? &state : NULL));
    see(LIB(pthread_setcanceltype)(wrong, random_below(2) ? &type : NULL));
    see(LIB(pthread_setcancelstate)(PTHREAD_CANCEL_ENABLE, NULL));
    see(LIB(pthread_setcanceltype)(PTHREAD_CANCEL_DEFERRED, NULL));
    see(state), see(type);
    LIB(pthread_testcancel)();
}

DRIVER(semaphore) {
    sem_t semaphore;
    unsigned value = random_below(4) ? random_below(3) : ONE_OF(0x7fffffffu, 0x80000000u);
    see(LIB(sem_init)(&semaphore, 0, value));
    if (value > 0x7fffffff)
        return;
    for (int i = 0; i < 6; i++) {
        int now = -7;
        see(LIB(sem_getvalue)(&semaphore, &now));
        see(now);
        const struct timespec past = {1, 0}, wrong = {1, 1000000000};
        switch (random_below(4)) {
        case 0:
            if (now > 0)
                see(LIB(sem_wait)(&semaphore));
            break;
        case 1:
            see(LIB(sem_timedwait)(&semaphore, random_below(3) ? &past : &wrong));
            break;
        case 2:
            see(LIB(sem_trywait)(&semaphore));
            break;
        default:
            see(LIB(sem_post)(&semaphore));
        }
        see(LIB_ERRNO);
    }
    see(LIB(sem_destroy)(&semaphore));
}

// Attributes.
DRIVER(attributes) {
    pthread_attr_t *of_thread = room(sizeof *of_thread);
    see(LIB(pthread_attr_init)(of_thread));
    memset(of_thread, 0, sizeof *of_thread);
    see(LIB(pthread_attr_setstacksize)(of_thread, ONE_OF(0, 16383, 16384, 1 << 20)));
    memset(of_thread, 0, sizeof *of_thread);
    pthread_mutexattr_t of_mutex;
    see(LIB(pthread_mutexattr_init)(&of_mutex));
    see(LIB(pthread_mutexattr_setpshared)(&of_mutex, ONE_OF(0, 0, -1, 2)));
    pthread_condattr_t of_condition;
    see(LIB(pthread_condattr_init)(&of_condition));
    see(LIB(pthread_condattr_setclock)(&of_condition, random_below(9)));
    pthread_rwlockattr_t of_lock;
    see(LIB(pthread_rwlockattr_init)(&of_lock));
    see(LIB(pthread_rwlockattr_destroy)(&of_lock));
}

// threads.h.
DRIVER(mtx) {
    mtx_t mutex;
    int type = random_below(4), locked = 0, result = LIB(mtx_init)(&mutex, type);
    see(result);
    for (int i = 0; i < 8 && result == 0; i++) {
        int done = 0;
        switch (random_below(4)) {
        case 0:
            if (!locked || type & 1)
                done = LIB(mtx_lock)(&mutex), locked += !done;
            break;
        case 1:
            done = LIB(mtx_trylock)(&mutex), locked += !done;
            break;
        case 2:
            done = LIB(mtx_timedlock)(&mutex, &past), locked += !done;
            break;
        default:
            if (locked || type & 1)
                done = LIB(mtx_unlock)(&mutex), locked -= !done;
        }
        see(done);
    }
    if (result == 0 && !locked)
        LIB(mtx_destroy)(&mutex);
}
DRIVER(call_once) {
    once_flag once = ONCE_FLAG_INIT;
    runs = 0;
    for (unsigned n = random_below(4); n > 0; n--)
        LIB(call_once)(&once, run);
    see(runs);
}
DRIVER(cnd) {
    asks_environment();
    cnd_t condition;
    mtx_t mutex;
    see(LIB(cnd_init)(&condition));
    see(LIB(mtx_init)(&mutex, mtx_plain));
    see(LIB(mtx_lock)(&mutex));
    see(LIB(cnd_signal)(&condition));
    see(LIB(cnd_timedwait)(&condition, &mutex, random_below(3) ? &past : &wrong));
    see(LIB(mtx_trylock)(&mutex));
    see(LIB(mtx_unlock)(&mutex));
    see(LIB(cnd_broadcast)(&condition));
    LIB(cnd_destroy)(&condition);
}
DRIVER(tss) {
    static int values[2];
    tss_t key;
    see(LIB(tss_create)(&key, NULL));
    see(LIB(tss_get)(key) == NULL);
    see(LIB(tss_set)(key, &values[1]));
    see(LIB(tss_get)(key) == &values[1]);
    LIB(tss_delete)(key);
    see(LIB(tss_set)(key, values));
    see(LIB(tss_get)(key) == NULL);
}
DRIVER(thrd) {
    asks_environment();
    see(LIB(thrd_equal)(LIB(thrd_current)(), LIB(thrd_current)()) != 0);
    LIB(thrd_yield)();
    struct timespec time = {0, ONE_OF(0, 1, -1, 1000000000)}, left = {7, 7};
    see(LIB(thrd_sleep)(&time, random_below(2) ? &left : NULL));
    see(left.tv_sec);
}
