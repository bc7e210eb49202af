// Defines: pthread_self pthread_equal pthread_exit pthread_once pthread_setcancelstate
// Defines: pthread_setcanceltype pthread_testcancel pthread_mutex_init pthread_mutex_destroy
// Defines: pthread_mutex_lock pthread_mutex_trylock pthread_mutex_timedlock pthread_mutex_unlock
// Defines: pthread_mutexattr_init pthread_mutexattr_destroy pthread_mutexattr_settype
// Defines: pthread_mutexattr_gettype pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate
// Defines: pthread_cond_init pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast
// Defines: pthread_cond_wait pthread_cond_timedwait pthread_condattr_init pthread_condattr_destroy
// Defines: pthread_rwlock_init pthread_rwlock_destroy pthread_rwlock_rdlock pthread_rwlock_tryrdlock
// Defines: pthread_rwlock_wrlock pthread_rwlock_trywrlock pthread_rwlock_unlock pthread_spin_init
// Defines: pthread_spin_destroy pthread_spin_lock pthread_spin_trylock pthread_spin_unlock pthread_key_create
// Defines: pthread_key_delete pthread_getspecific pthread_setspecific sem_init sem_destroy sem_wait
// Defines: sem_trywait sem_timedwait sem_post sem_getvalue pthread_attr_setstacksize pthread_condattr_setclock
// Defines: pthread_mutexattr_setpshared pthread_rwlockattr_init pthread_rwlockattr_destroy __proviso_register_handler
// Defines: __pthread_unregister_cancel __pthread_unwind_next __proviso_may_cancel pthread_attr_getdetachstate
#pragma once
#include "proviso.h"

// pthread.h and semaphores, in a program with one thread. An operation that waits for another thread blocks forever.

// Operations on locks, for race detection. One that initialises or destroys a lock races with others.
#ifdef PROVISO_THREADS
#define USES_LOCK(lock) __proviso_access_lock(lock, 0)
#define RESETS_LOCK(lock) __proviso_access_lock(lock, 1)
#else
#define RESETS_LOCK(lock) ((void)0)
#endif

#ifndef PROVISO_THREADS
static void proviso_block(void) {
    for (;;)
        ;
}

unsigned long pthread_self(void) { return 1; }

// `*once` is 1 while the routine runs, and 2 after its return.
static int proviso_once(int *once, void (*routine)(void)) {
    if (*once & 2)
        return 0;
    if (*once)
        proviso_block();
    *once = 1;
    routine();
    *once = 2;
    return 0;
}
#endif

static int proviso_once(int *once, void (*routine)(void));
int pthread_once(int *once, void (*routine)(void)) { return proviso_once(once, routine); }

int pthread_equal(unsigned long a, unsigned long b) { return a == b; }

// Cleanup handlers. In C, `pthread_cleanup_push` saves the registers in a buffer, to which a cancelled thread jumps. Here,
// the lowering passes the handler, and the buffer keeps it.
struct proviso_cleanup {
    void (*routine)(void *);
    void *argument;
    struct proviso_cleanup *next;
};
static struct proviso_cleanup **proviso_cleanups(void);

void __proviso_register_handler(struct proviso_cleanup *handler, void (*routine)(void *), void *argument) {
    struct proviso_cleanup **handlers = proviso_cleanups();
    handler->routine = routine;
    handler->argument = argument;
    handler->next = *handlers;
    *handlers = handler;
}

void __pthread_unregister_cancel(struct proviso_cleanup *handler) { *proviso_cleanups() = handler->next; }

void __pthread_unwind_next(void *buffer) { __proviso_unmodelled("this jump to a cleanup handler is not modelled"); }

// Runs the handlers of this thread, the innermost first.
static void proviso_clean_up(void) {
#ifdef PROVISO_HANDLERS
    struct proviso_cleanup **handlers = proviso_cleanups(), *handler;
    while ((handler = *handlers)) {
        *handlers = handler->next;
        handler->routine(handler->argument);
    }
#endif
}

static int *proviso_cancel_state(void);
static int *proviso_cancel_type(void);

static int proviso_set_cancel(int *kept, int value, int *old) {
    if (value < 0 || value > 1)
        return EINVAL;
    if (old)
        *old = *kept;
    *kept = value;
    return 0;
}

int pthread_setcancelstate(int state, int *old) { return proviso_set_cancel(proviso_cancel_state(), state, old); }

int pthread_setcanceltype(int type, int *old) {
#ifdef PROVISO_CANCELS
    if (type == 1)
        __proviso_unmodelled("asynchronous cancellation is not modelled");
#endif
    return proviso_set_cancel(proviso_cancel_type(), type, old);
}

#ifndef PROVISO_THREADS
static int proviso_state, proviso_type;
static struct proviso_cleanup *proviso_own_cleanups;
static int *proviso_cancel_state(void) { return &proviso_state; }
static int *proviso_cancel_type(void) { return &proviso_type; }
static struct proviso_cleanup **proviso_cleanups(void) { return &proviso_own_cleanups; }
// There is no other thread to cancel this one.
void pthread_testcancel(void) {}
void __proviso_may_cancel(void) {}
#endif

// Mutexes. The kind is at the offset that static initialisers use.

struct proviso_mutex {
    int locked;
    unsigned count;
    unsigned long owner;
    int kind;
};
enum { NORMAL, RECURSIVE, ERROR_CHECKING, ADAPTIVE };

static int proviso_kind(struct proviso_mutex *mutex) {
#ifdef PROVISO_THREADS
    // Another thread may free the mutex.
    __proviso_atomic_begin(SEQUENTIAL);
#endif
    int kind = mutex->kind & 0x7f;
#ifdef PROVISO_THREADS
    __proviso_atomic_finish();
#endif
    if (kind > ADAPTIVE)
        __proviso_unmodelled("this kind of mutex is not modelled");
    return kind;
}

int pthread_mutex_init(struct proviso_mutex *mutex, const int *attributes) {
    RESETS_LOCK(mutex);
    __builtin_memset(mutex, 0, sizeof(void *) == 4 ? 24 : 40);
    if (attributes)
        mutex->kind = *attributes;
    return 0;
}

#ifdef PROVISO_THREADS
static int proviso_lock(struct proviso_mutex *mutex, int otherwise, int checked);
static int proviso_unlock(struct proviso_mutex *mutex);
#else
int pthread_mutex_destroy(struct proviso_mutex *mutex) { return mutex->locked ? EBUSY : 0; }

// `otherwise` is the result for a locked mutex that is neither recursive nor error-checking; 0 to wait for ever.
static int proviso_lock(struct proviso_mutex *mutex, int otherwise, int checked) {
    if (mutex->locked) {
        int kind = proviso_kind(mutex);
        if (kind == ERROR_CHECKING)
            return checked;
        if (kind != RECURSIVE) {
            if (!otherwise)
                proviso_block();
            return otherwise;
        }
    }
    mutex->count = mutex->locked ? mutex->count + 1 : 1;
    mutex->locked = 1;
    return 0;
}
#endif

int pthread_mutex_lock(struct proviso_mutex *mutex) { return proviso_lock(mutex, 0, EDEADLK); }

int pthread_mutex_trylock(struct proviso_mutex *mutex) { return proviso_lock(mutex, EBUSY, EBUSY); }

struct proviso_moment {
    long seconds, nanoseconds;
};
static int proviso_timeout(const struct proviso_moment *until) {
    return until->nanoseconds < 0 || until->nanoseconds >= 1000000000 ? EINVAL : ETIMEDOUT;
}

int pthread_mutex_timedlock(struct proviso_mutex *mutex, const struct proviso_moment *until) {
    return proviso_lock(mutex, proviso_timeout(until), EDEADLK);
}

#ifndef PROVISO_THREADS
static int proviso_unlock(struct proviso_mutex *mutex) {
    int kind = proviso_kind(mutex);
    if (!mutex->locked)
        return kind == RECURSIVE || kind == ERROR_CHECKING ? EPERM : 0;
    mutex->count--;
    mutex->locked = kind == RECURSIVE && mutex->count != 0;
    return 0;
}
#endif

int pthread_mutex_unlock(struct proviso_mutex *mutex) { return proviso_unlock(mutex); }

int pthread_mutexattr_init(int *attributes) {
    *attributes = 0;
    return 0;
}

int pthread_mutexattr_destroy(int *attributes) { return 0; }

int pthread_mutexattr_settype(int *attributes, int kind) {
    if (kind < 0 || kind > 3)
        return EINVAL;
    *attributes = kind;
    return 0;
}

int pthread_mutexattr_gettype(const int *attributes, int *kind) {
    *kind = *attributes;
    return 0;
}

int pthread_attr_init(void *attributes) {
    __builtin_memset(attributes, 0, sizeof(void *) == 4 ? 36 : 56);
    return 0;
}

int pthread_attr_destroy(void *attributes) { return 0; }

// The first word is whether threads start detached.
int pthread_attr_setdetachstate(int *attributes, int state) {
    if (state != 0 && state != 1)
        return EINVAL;
    *attributes = state;
    return 0;
}

int pthread_attr_getdetachstate(const int *attributes, int *state) {
    *state = *attributes;
    return 0;
}

int pthread_attr_setstacksize(void *attributes, size_t size) { return size < 16384 ? EINVAL : 0; }

int pthread_mutexattr_setpshared(int *attributes, int shared) {
    if (shared < 0 || shared > 1)
        return EINVAL;
    if (shared)
        __proviso_unmodelled("a mutex that processes share is not modelled");
    return 0;
}

// Condition variables. A wait may end spuriously, as POSIX permits. Otherwise it never ends.

#ifdef PROVISO_THREADS
static _Bool proviso_is_awaited(const void *condition);
#define RESETS_CONDITION(condition)                                                                                  \
    do {                                                                                                             \
        RESETS_LOCK(condition);                                                                                      \
        if (proviso_is_awaited(condition))                                                                           \
            __proviso_unmodelled("resetting a condition variable that a thread waits for is not modelled");          \
    } while (0)
#else
#define RESETS_CONDITION(condition) ((void)0)
#endif

int pthread_cond_init(void *condition, const void *attributes) {
    RESETS_CONDITION(condition);
    __builtin_memset(condition, 0, 48);
    return 0;
}

int pthread_cond_destroy(void *condition) {
    RESETS_CONDITION(condition);
    return 0;
}

int pthread_condattr_init(int *attributes) {
    *attributes = 0;
    return 0;
}

int pthread_condattr_destroy(int *attributes) { return 0; }

// The system clock, or a monotonic one.
int pthread_condattr_setclock(int *attributes, int clock) { return clock == 0 || clock == 1 ? 0 : EINVAL; }

#ifdef PROVISO_THREADS
#include "concurrent.h"

int pthread_cond_signal(void *condition) { return proviso_wake(condition, 0); }

int pthread_cond_broadcast(void *condition) { return proviso_wake(condition, 1); }
#else
int pthread_cond_signal(void *condition) { return 0; }

int pthread_cond_broadcast(void *condition) { return 0; }

// Returns whether a wait ends spuriously. Afterwards the mutex is locked again.
static _Bool proviso_wakes(struct proviso_mutex *mutex) {
    if (!mutex->locked)
        __proviso_unmodelled("waiting with a mutex that is not locked is not modelled");
    if (!__proviso_env_bool())
        return 0;
    __proviso_overapproximated("a wait for a condition may end without a signal");
    return 1;
}

static int proviso_wait(void *condition, struct proviso_mutex *mutex) {
    if (!proviso_wakes(mutex))
        proviso_block();
    return 0;
}

static int proviso_timed_wait(void *condition, struct proviso_mutex *mutex, const struct proviso_moment *until) {
    int timeout = proviso_timeout(until);
    return timeout == ETIMEDOUT && proviso_wakes(mutex) ? 0 : timeout;
}
#endif

int pthread_cond_wait(void *condition, struct proviso_mutex *mutex) { return proviso_wait(condition, mutex); }

int pthread_cond_timedwait(void *condition, struct proviso_mutex *mutex, const struct proviso_moment *until) {
    return proviso_timed_wait(condition, mutex, until);
}

// Read-write locks.

int pthread_rwlock_init(void *lock, const void *attributes) {
    RESETS_LOCK(lock);
    __builtin_memset(lock, 0, sizeof(void *) == 4 ? 32 : 56);
    return 0;
}

#ifndef PROVISO_THREADS
struct proviso_rwlock {
    unsigned readers, writers;
};

int pthread_rwlock_destroy(struct proviso_rwlock *lock) { return 0; }

int pthread_rwlock_tryrdlock(struct proviso_rwlock *lock) {
    if (lock->writers)
        return EBUSY;
    lock->readers++;
    return 0;
}

int pthread_rwlock_rdlock(struct proviso_rwlock *lock) {
    if (lock->writers)
        return EDEADLK;
    lock->readers++;
    return 0;
}

int pthread_rwlock_trywrlock(struct proviso_rwlock *lock) {
    if (lock->writers || lock->readers)
        return EBUSY;
    lock->writers = 1;
    return 0;
}

int pthread_rwlock_wrlock(struct proviso_rwlock *lock) {
    if (lock->writers)
        return EDEADLK;
    if (lock->readers)
        proviso_block();
    lock->writers = 1;
    return 0;
}

int pthread_rwlock_unlock(struct proviso_rwlock *lock) {
    if (lock->writers)
        lock->writers = 0;
    else if (lock->readers)
        lock->readers--;
    else
        __proviso_unmodelled("unlocking a lock that is not locked is not modelled");
    return 0;
}
#endif

int pthread_rwlockattr_init(void *attributes) {
    __builtin_memset(attributes, 0, 8);
    return 0;
}

int pthread_rwlockattr_destroy(void *attributes) { return 0; }

// Spin locks.

int pthread_spin_init(int *lock, int shared) {
    RESETS_LOCK(lock);
    *lock = 0;
    return 0;
}

int pthread_spin_destroy(int *lock) {
    RESETS_LOCK(lock);
    return 0;
}

#ifndef PROVISO_THREADS
int pthread_spin_lock(int *lock) {
    if (*lock)
        proviso_block();
    *lock = 1;
    return 0;
}

int pthread_spin_trylock(int *lock) {
    if (*lock)
        return EBUSY;
    *lock = 1;
    return 0;
}

int pthread_spin_unlock(int *lock) {
    *lock = 0;
    return 0;
}

// Thread-specific data: keys from 0 on, as in the library.

enum { KEYS = 1024 };
static struct {
    _Bool used;
    const void *value;
    void (*destructor)(void *);
} proviso_keys[KEYS];
// The number of keys that were ever used.
static unsigned proviso_key_count;

static int proviso_create_key(unsigned *key, void (*destructor)(void *)) {
    unsigned n = 0;
    while (n < proviso_key_count && proviso_keys[n].used)
        n++;
    if (n == KEYS)
        return EAGAIN;
    proviso_key_count += n == proviso_key_count;
    proviso_keys[n].used = 1;
    proviso_keys[n].value = NULL;
    proviso_keys[n].destructor = destructor;
    *key = n;
    return 0;
}

static int proviso_delete_key(unsigned key) {
    if (key >= KEYS || !proviso_keys[key].used)
        return EINVAL;
    proviso_keys[key].used = 0;
    return 0;
}

static void *proviso_get_specific(unsigned key) {
    return key < KEYS && proviso_keys[key].used ? (void *)proviso_keys[key].value : NULL;
}

static int proviso_set_specific(unsigned key, const void *value) {
    if (key >= KEYS || !proviso_keys[key].used)
        return EINVAL;
    proviso_keys[key].value = value;
    return 0;
}

#endif

int pthread_key_create(unsigned *key, void (*destructor)(void *)) { return proviso_create_key(key, destructor); }

int pthread_key_delete(unsigned key) { return proviso_delete_key(key); }

void *pthread_getspecific(unsigned key) { return proviso_get_specific(key); }

int pthread_setspecific(unsigned key, const void *value) { return proviso_set_specific(key, value); }

#ifndef PROVISO_THREADS
extern void exit(int status) __attribute__((noreturn));

// The last thread ends: cleanup handlers and destructors run, repeatedly if they set values, and the program ends as by `exit`.
static void proviso_end_thread(void) {
    proviso_clean_up();
    _Bool again = 1;
    for (int round = 0; again && round < 4; round++) {
        again = 0;
        for (unsigned n = 0; n < proviso_key_count; n++) {
            void *value = (void *)proviso_keys[n].value;
            if (!value || !proviso_keys[n].used)
                continue;
            proviso_keys[n].value = NULL;
            if (proviso_keys[n].destructor) {
                proviso_keys[n].destructor(value);
                again = 1;
            }
        }
    }
    exit(0);
}

void pthread_exit(void *result) { proviso_end_thread(); }
#endif

// Semaphores.

int sem_init(unsigned *semaphore, int shared, unsigned value) {
    if (value > INT_MAX) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    RESETS_LOCK(semaphore);
    __builtin_memset(semaphore, 0, sizeof(void *) == 4 ? 16 : 32);
    *semaphore = value;
    return 0;
}

int sem_destroy(unsigned *semaphore) {
    RESETS_LOCK(semaphore);
    return 0;
}

#ifndef PROVISO_THREADS
int sem_wait(unsigned *semaphore) {
    if (!*semaphore)
        proviso_block();
    --*semaphore;
    return 0;
}

int sem_trywait(unsigned *semaphore) {
    if (!*semaphore) {
        SET_ERRNO(EAGAIN);
        return -1;
    }
    --*semaphore;
    return 0;
}

int sem_timedwait(unsigned *semaphore, const struct proviso_moment *until) {
    int timeout = proviso_timeout(until);
    if (timeout != ETIMEDOUT || !*semaphore) {
        SET_ERRNO(timeout);
        return -1;
    }
    --*semaphore;
    return 0;
}

int sem_post(unsigned *semaphore) {
    if (*semaphore == INT_MAX) {
        SET_ERRNO(EOVERFLOW);
        return -1;
    }
    ++*semaphore;
    return 0;
}

int sem_getvalue(unsigned *semaphore, int *value) {
    *value = *semaphore;
    return 0;
}
#endif
