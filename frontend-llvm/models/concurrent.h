#pragma once
// Threads and their synchronisation, based on the primitives of `primitives.rs`. pthread.c includes this file in
// programs that start threads.

// A thread. Its address is its identifier.
struct proviso_thread {
    void *(*start)(void *);
    void *argument;
    // True if it was started by `thrd_create`, whose functions return `int`.
    _Bool gives_int;
    void *result;
    int ended;
    _Bool detached;
    // For a thread that waits for a condition variable: whether a signal woke it, and the condition variable.
    int woken;
    void *condition;
    struct proviso_thread *next;
    // The number of read-write locks that the thread has locked for writing.
    unsigned writes;
    // Thread-specific data, by key, and the creation of the key for which each value was set.
    void *specific[16];
    unsigned creations[16];
    // The state and type of cancellation: 0, or 1 for disabled and asynchronous.
    int cancel_state, cancel_type;
    // The cleanup handlers, innermost first.
    struct proviso_cleanup *handlers;
    // The number of routines of `pthread_once` that the thread runs.
    unsigned onces;
    // 1 once a thread has requested the cancellation.
    int cancelled;
};
enum { SPECIFIC = 16 };

static struct proviso_thread proviso_first;
static int proviso_live = 1;
// The threads that wait for condition variables.
static struct proviso_thread *proviso_waiting;

static struct proviso_thread *proviso_this(void) {
    struct proviso_thread *own = __proviso_thread_this();
    return own ? own : &proviso_first;
}

unsigned long pthread_self(void) { return (unsigned long)proviso_this(); }

// Cancellation. PROVISO_CANCELS is defined if the program cancels threads.

static int *proviso_cancel_state(void) { return &proviso_this()->cancel_state; }
static int *proviso_cancel_type(void) { return &proviso_this()->cancel_type; }
static struct proviso_cleanup **proviso_cleanups(void) { return &proviso_this()->handlers; }

static void proviso_finish(void *result);

// Ends the thread early: the cleanup handlers run, and the thread no longer acts on requests to cancel it.
static void proviso_leave(void *result) {
    if (proviso_this()->onces)
        __proviso_unmodelled("ending a thread in a routine of `pthread_once` is not modelled");
    proviso_this()->cancel_state = 1;
    proviso_clean_up();
    proviso_finish(result);
}

#ifdef PROVISO_CANCELS
// Within an atomic section: whether the thread acts on a request to cancel it. If `may_go_on`, it may also act later.
static _Bool proviso_is_cancelled(_Bool may_go_on) {
    struct proviso_thread *own = proviso_this();
    if (own->cancel_state || !own->cancelled || (may_go_on && __proviso_env_bool()))
        return 0;
    // POSIX does not say whether the request happens before the handlers.
    __proviso_acquire(&own->cancelled, 0);
    __proviso_observe();
    return 1;
}

// Ends this thread with the result PTHREAD_CANCELED.
static void proviso_end_cancelled(void) { proviso_leave((void *)-1); }

// The word that interrupts a wait at a cancellation point.
static const int *proviso_interrupt(void) {
    static const int never;
    struct proviso_thread *own = proviso_this();
    return own->cancel_state ? &never : &own->cancelled;
}

// In the atomic section after an interruptible wait: acts on a request to cancel the thread. If `may_go_on`, the thread
// may also act later. `first` is done before the thread ends.
#define ACT_AFTER_WAIT(may_go_on, first)                                                                             \
    do {                                                                                                             \
        if (proviso_is_cancelled(may_go_on)) {                                                                       \
            __proviso_atomic_finish();                                                                               \
            first;                                                                                                   \
            proviso_end_cancelled();                                                                                 \
        }                                                                                                            \
    } while (0)

static void proviso_test_cancel(void) {
    if (proviso_this()->cancel_state)
        return;
    __proviso_atomic_begin(SYNCHRONISES);
    ACT_AFTER_WAIT(0, );
    __proviso_atomic_finish();
}

// A call of a function that may be a cancellation point.
void __proviso_may_cancel(void) {
    if (__proviso_env_bool())
        proviso_test_cancel();
}
#else
static void proviso_test_cancel(void) {}
#define proviso_interrupt() NULL
#define ACT_AFTER_WAIT(may_go_on, first) ((void)0)
void __proviso_may_cancel(void) {}
#endif

void pthread_testcancel(void) { proviso_test_cancel(); }

// `*once` is 0 at first, 1 while the routine runs, and 2 afterwards.
static int proviso_once(int *once, void (*routine)(void)) {
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(once);
    if (*once == 0) {
        *once = 1;
        __proviso_atomic_finish();
        proviso_this()->onces++;
        routine();
        proviso_this()->onces--;
        __proviso_atomic_begin(SYNCHRONISES);
        USES_LOCK(once);
        __proviso_release(once);
        *once = 2;
    } else {
        __proviso_atomic_finish();
        __proviso_atomic_when(once, EQUAL, 2, NULL);
        __proviso_acquire(once, 0);
    }
    __proviso_atomic_finish();
    return 0;
}

// Mutexes.

// Waits until a mutex is free, and locks it.
static void proviso_take_mutex(struct proviso_mutex *mutex) {
    __proviso_atomic_when(&mutex->locked, EQUAL, 0, NULL);
    USES_LOCK(mutex);
    mutex->locked = 1;
    mutex->count = 1;
    mutex->owner = pthread_self();
    __proviso_acquire(mutex, 1);
    __proviso_atomic_finish();
}

// `otherwise` is the result for a locked mutex that is neither recursive nor error-checking; 0 to wait.
static int proviso_lock(struct proviso_mutex *mutex, int otherwise, int checked) {
    int kind = proviso_kind(mutex);
    if (kind == RECURSIVE || kind == ERROR_CHECKING) {
        __proviso_atomic_begin(OBSERVES);
        USES_LOCK(mutex);
        _Bool own = mutex->locked && mutex->owner == pthread_self();
        mutex->count += own && kind == RECURSIVE;
        __proviso_atomic_finish();
        if (own)
            return kind == RECURSIVE ? 0 : checked;
    }
    if (!otherwise) {
        proviso_take_mutex(mutex);
        return 0;
    }
    // A wait with a time limit ends when this thread continues.
    __proviso_atomic_begin(OBSERVES);
    USES_LOCK(mutex);
    _Bool free = !mutex->locked;
    if (free) {
        mutex->locked = 1;
        mutex->count = 1;
        mutex->owner = pthread_self();
        __proviso_acquire(mutex, 1);
    } else
        __proviso_observe();
    __proviso_atomic_finish();
    return free ? 0 : otherwise;
}

static int proviso_unlock(struct proviso_mutex *mutex) {
    int kind = proviso_kind(mutex), error = 0;
    __proviso_atomic_begin(RELEASES);
    USES_LOCK(mutex);
    _Bool checks = kind == RECURSIVE || kind == ERROR_CHECKING;
    if (checks && (!mutex->locked || mutex->owner != pthread_self()))
        error = EPERM;
    else if (kind == RECURSIVE && mutex->count > 1)
        mutex->count--;
    else {
        if (mutex->owner != pthread_self())
            __proviso_underapproximated("unlocking a mutex that the thread has not locked is not modelled");
        __proviso_release(mutex);
        mutex->count = 0;
        mutex->owner = 0;
        mutex->locked = 0;
    }
    __proviso_atomic_finish();
    return error;
}

int pthread_mutex_destroy(struct proviso_mutex *mutex) {
    RESETS_LOCK(mutex);
    __proviso_atomic_begin(OBSERVES);
    _Bool locked = mutex->locked;
    if (locked)
        __proviso_observe();
    __proviso_atomic_finish();
    return locked ? EBUSY : 0;
}

// Condition variables.

static int proviso_wake(void *condition, _Bool all);

// True if a thread waits for the condition variable.
static _Bool proviso_is_awaited(const void *condition) {
    _Bool found = 0;
    __proviso_atomic_begin(SYNCHRONISES);
    for (struct proviso_thread *t = proviso_waiting; t; t = t->next)
        found |= t->condition == condition && !t->woken;
    __proviso_atomic_finish();
    return found;
}

// Waits for a signal, or wakes up spuriously, as POSIX permits. A wait with a time limit ends when this thread continues.
// Returns whether there was a signal.
static int proviso_wait_for(void *condition, struct proviso_mutex *mutex, _Bool limited) {
    struct proviso_thread *own = proviso_this();
    proviso_test_cancel();
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(condition);
    USES_LOCK(mutex);
    if (!mutex->locked)
        __proviso_unmodelled("waiting with a mutex that is not locked is not modelled");
    // glibc unlocks once, and waits with the mutex locked.
    if (mutex->count > 1)
        __proviso_unmodelled("waiting with a mutex that is locked more than once is not modelled");
    __proviso_release(mutex);
    mutex->count = 0;
    mutex->owner = 0;
    mutex->locked = 0;
    own->condition = condition;
    own->woken = 0;
    own->next = proviso_waiting;
    proviso_waiting = own;
    __proviso_atomic_finish();
    _Bool ends = limited || __proviso_env_bool();
    if (ends)
        __proviso_atomic_begin(SYNCHRONISES);
    else
        __proviso_atomic_when(&own->woken, EQUAL, 1, proviso_interrupt());
    struct proviso_thread **at = &proviso_waiting;
    while (*at && *at != own)
        at = &(*at)->next;
    if (*at)
        *at = own->next;
    own->next = NULL;
    own->condition = NULL;
    int woken = own->woken;
    own->woken = 0;
    ACT_AFTER_WAIT(woken || ends, {
        // A cancelled thread does not consume a signal.
        if (woken)
            proviso_wake(condition, 0);
        proviso_take_mutex(mutex);
    });
    __proviso_atomic_finish();
    proviso_take_mutex(mutex);
    return woken;
}

static int proviso_wake(void *condition, _Bool all) {
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(condition);
    int count = 0;
    for (struct proviso_thread *t = proviso_waiting; t; t = t->next)
        count += t->condition == condition && !t->woken;
    int which = 0;
    while (!all && which < count - 1 && __proviso_env_bool())
        which++;
    for (struct proviso_thread *t = proviso_waiting; t; t = t->next)
        if (t->condition == condition && !t->woken) {
            t->woken |= all || which == 0;
            which--;
        }
    __proviso_atomic_finish();
    return 0;
}

static int proviso_wait(void *condition, struct proviso_mutex *mutex) {
    proviso_wait_for(condition, mutex, 0);
    return 0;
}

static int proviso_timed_wait(void *condition, struct proviso_mutex *mutex, const struct proviso_moment *until) {
    int timeout = proviso_timeout(until);
    if (timeout != ETIMEDOUT)
        return timeout;
    int woken = proviso_wait_for(condition, mutex, 1);
    return woken || __proviso_env_bool() ? 0 : ETIMEDOUT;
}

// Read-write locks. The state is the number of readers, or -1 for a writer, which is the owner.
struct proviso_rwlock {
    int state;
    unsigned long owner;
};

// Records that this thread has locked a lock for writing, or unlocks it.
static void proviso_set_writer(struct proviso_rwlock *lock, _Bool locks) {
    lock->owner = locks ? pthread_self() : 0;
    proviso_this()->writes += locks ? 1 : -1;
}

// True if this thread has locked the lock for writing.
static _Bool proviso_is_writer(struct proviso_rwlock *lock) {
    if (!proviso_this()->writes)
        return 0;
    __proviso_atomic_begin(OBSERVES);
    USES_LOCK(lock);
    _Bool own = lock->state < 0 && lock->owner == pthread_self();
    __proviso_atomic_finish();
    return own;
}

int pthread_rwlock_destroy(struct proviso_rwlock *lock) {
    RESETS_LOCK(lock);
    return 0;
}

static int proviso_try_rwlock(struct proviso_rwlock *lock, _Bool writes) {
    __proviso_atomic_begin(OBSERVES);
    USES_LOCK(lock);
    _Bool free = writes ? lock->state == 0 : lock->state >= 0;
    if (free) {
        lock->state = writes ? -1 : lock->state + 1;
        __proviso_acquire(lock, 0);
        if (writes)
            proviso_set_writer(lock, 1);
    } else
        __proviso_observe();
    __proviso_atomic_finish();
    return free ? 0 : EBUSY;
}

int pthread_rwlock_tryrdlock(struct proviso_rwlock *lock) { return proviso_try_rwlock(lock, 0); }

int pthread_rwlock_trywrlock(struct proviso_rwlock *lock) { return proviso_try_rwlock(lock, 1); }

int pthread_rwlock_rdlock(struct proviso_rwlock *lock) {
    if (proviso_is_writer(lock))
        return EDEADLK;
    __proviso_atomic_when(&lock->state, AT_LEAST, 0, NULL);
    USES_LOCK(lock);
    lock->state++;
    __proviso_acquire(lock, 0);
    __proviso_atomic_finish();
    return 0;
}

int pthread_rwlock_wrlock(struct proviso_rwlock *lock) {
    if (proviso_is_writer(lock))
        return EDEADLK;
    __proviso_atomic_when(&lock->state, EQUAL, 0, NULL);
    USES_LOCK(lock);
    lock->state = -1;
    proviso_set_writer(lock, 1);
    __proviso_acquire(lock, 0);
    __proviso_atomic_finish();
    return 0;
}

int pthread_rwlock_unlock(struct proviso_rwlock *lock) {
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(lock);
    if (lock->state == 0)
        __proviso_unmodelled("unlocking a lock that is not locked is not modelled");
    if (lock->state < 0 && lock->owner != pthread_self())
        __proviso_unmodelled("unlocking a lock that another thread has locked is not modelled");
    __proviso_release(lock);
    if (lock->state < 0)
        proviso_set_writer(lock, 0);
    lock->state = lock->state < 0 ? 0 : lock->state - 1;
    __proviso_atomic_finish();
    return 0;
}

// Spin locks.

int pthread_spin_lock(int *lock) {
    __proviso_atomic_when(lock, EQUAL, 0, NULL);
    USES_LOCK(lock);
    *lock = 1;
    __proviso_acquire(lock, 0);
    __proviso_atomic_finish();
    return 0;
}

int pthread_spin_trylock(int *lock) {
    __proviso_atomic_begin(OBSERVES);
    USES_LOCK(lock);
    _Bool free = *lock == 0;
    if (free) {
        *lock = 1;
        __proviso_acquire(lock, 0);
    } else
        __proviso_observe();
    __proviso_atomic_finish();
    return free ? 0 : EBUSY;
}

int pthread_spin_unlock(int *lock) {
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(lock);
    __proviso_release(lock);
    *lock = 0;
    __proviso_atomic_finish();
    return 0;
}

// Keys for thread-specific data.
static struct {
    _Bool used;
    // The number of times that a key with this number was created.
    unsigned creations;
    void (*destructor)(void *);
} proviso_keys[SPECIFIC];
static _Bool proviso_has_keys;

static int proviso_create_key(unsigned *key, void (*destructor)(void *)) {
    __proviso_atomic_begin(SYNCHRONISES);
    unsigned n = 0;
    while (n < SPECIFIC && proviso_keys[n].used)
        n++;
    if (n == SPECIFIC)
        __proviso_unmodelled("more than 16 keys for values of threads are not modelled");
    else {
        proviso_keys[n].used = 1;
        proviso_keys[n].creations++;
        proviso_keys[n].destructor = destructor;
        proviso_has_keys = 1;
        *key = n;
    }
    __proviso_atomic_finish();
    return 0;
}

static int proviso_delete_key(unsigned key) {
    if (key >= SPECIFIC || !proviso_keys[key].used)
        return EINVAL;
    __proviso_atomic_begin(SYNCHRONISES);
    proviso_keys[key].used = 0;
    proviso_keys[key].destructor = NULL;
    __proviso_atomic_finish();
    return 0;
}

// The value of a thread for an earlier key with this number does not belong to the key.
static void *proviso_get_specific(unsigned key) {
    if (key >= SPECIFIC || !proviso_keys[key].used)
        return NULL;
    struct proviso_thread *own = proviso_this();
    return own->creations[key] == proviso_keys[key].creations ? own->specific[key] : NULL;
}

static int proviso_set_specific(unsigned key, const void *value) {
    if (key >= SPECIFIC || !proviso_keys[key].used)
        return EINVAL;
    struct proviso_thread *own = proviso_this();
    own->specific[key] = (void *)value;
    own->creations[key] = proviso_keys[key].creations;
    return 0;
}

extern void exit(int status) __attribute__((noreturn));

// Ends the thread after the destructors of its data. If it is the last one, the program ends.
// Within an atomic section: a later thread may get the identifier of a detached thread that has ended. PROVISO_DETACHES is
// defined if the program detaches threads.
#ifdef PROVISO_DETACHES
static void proviso_free_identifier(struct proviso_thread *thread) {
    if (thread->detached && thread->ended && thread != &proviso_first)
        __proviso_drop(thread);
}
#else
#define proviso_free_identifier(thread) ((void)0)
#endif

static void proviso_finish(void *result) {
    struct proviso_thread *own = proviso_this();
    _Bool again = proviso_has_keys;
    for (int round = 0; again && round < 4; round++) {
        again = 0;
        for (unsigned n = 0; n < SPECIFIC; n++) {
            void *value = own->specific[n];
            if (!value || !proviso_keys[n].used || own->creations[n] != proviso_keys[n].creations)
                continue;
            own->specific[n] = NULL;
            if (proviso_keys[n].destructor) {
                proviso_keys[n].destructor(value);
                again = 1;
            }
        }
    }
    __proviso_atomic_begin(SYNCHRONISES);
    own->result = result;
    __proviso_release(own);
    own->ended = 1;
    _Bool last = --proviso_live == 0;
    proviso_free_identifier(own);
    __proviso_atomic_finish();
    if (last)
        exit(0);
    __proviso_thread_end();
}

void pthread_exit(void *result) { proviso_leave(result); }

// Semaphores.

int sem_wait(int *semaphore) {
    proviso_test_cancel();
    __proviso_atomic_when(semaphore, AT_LEAST, 1, proviso_interrupt());
    USES_LOCK(semaphore);
    ACT_AFTER_WAIT(*semaphore > 0, );
    --*semaphore;
    __proviso_acquire(semaphore, 0);
    __proviso_atomic_finish();
    return 0;
}

static _Bool proviso_try_semaphore(int *semaphore) {
    __proviso_atomic_begin(OBSERVES);
    USES_LOCK(semaphore);
    _Bool free = *semaphore > 0;
    if (free) {
        --*semaphore;
        __proviso_acquire(semaphore, 0);
    } else
        __proviso_observe();
    __proviso_atomic_finish();
    return free;
}

int sem_trywait(int *semaphore) {
    if (proviso_try_semaphore(semaphore))
        return 0;
    SET_ERRNO(EAGAIN);
    return -1;
}

// A wait with a time limit ends when this thread continues.
int sem_timedwait(int *semaphore, const struct proviso_moment *until) {
    int timeout = proviso_timeout(until);
    if (timeout != ETIMEDOUT) {
        SET_ERRNO(timeout);
        return -1;
    }
    proviso_test_cancel();
    if (proviso_try_semaphore(semaphore))
        return 0;
    SET_ERRNO(ETIMEDOUT);
    return -1;
}

int sem_post(int *semaphore) {
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(semaphore);
    _Bool full = *semaphore == INT_MAX;
    if (!full) {
        __proviso_release(semaphore);
        ++*semaphore;
    }
    __proviso_atomic_finish();
    if (!full)
        return 0;
    SET_ERRNO(EOVERFLOW);
    return -1;
}

int sem_getvalue(int *semaphore, int *value) {
    __proviso_atomic_begin(OBSERVES);
    USES_LOCK(semaphore);
    int now = *semaphore;
    __proviso_observe();
    __proviso_atomic_finish();
    *value = now;
    return 0;
}
