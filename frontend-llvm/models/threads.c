// Defines: mtx_init mtx_destroy mtx_lock mtx_trylock mtx_timedlock mtx_unlock call_once cnd_init cnd_destroy cnd_signal
// Defines: cnd_broadcast cnd_wait cnd_timedwait tss_create tss_delete tss_get tss_set thrd_current thrd_equal thrd_yield
// Defines: thrd_sleep thrd_exit
#pragma once
#include "pthread.c"

// threads.h of C11 in a program of one thread, based on pthread.c.

enum { PROVISO_SUCCESS, PROVISO_BUSY, PROVISO_ERROR, PROVISO_NO_MEMORY, PROVISO_TIMED_OUT };

static int proviso_thread_result(int error) {
    return error == 0           ? PROVISO_SUCCESS
           : error == EBUSY     ? PROVISO_BUSY
           : error == ENOMEM    ? PROVISO_NO_MEMORY
           : error == ETIMEDOUT ? PROVISO_TIMED_OUT
                                : PROVISO_ERROR;
}

// mtx_plain is 0, mtx_recursive 1, mtx_timed 2.
int mtx_init(struct proviso_mutex *mutex, int type) {
    if (type < 0 || type > 3)
        __proviso_unmodelled("this type of mutex is not modelled");
    RESETS_LOCK(mutex);
    __builtin_memset(mutex, 0, sizeof(void *) == 4 ? 24 : 40);
    mutex->kind = type & 1;
    return PROVISO_SUCCESS;
}

void mtx_destroy(struct proviso_mutex *mutex) { RESETS_LOCK(mutex); }

int mtx_lock(struct proviso_mutex *mutex) { return proviso_thread_result(proviso_lock(mutex, 0, EDEADLK)); }

int mtx_trylock(struct proviso_mutex *mutex) { return proviso_thread_result(proviso_lock(mutex, EBUSY, EBUSY)); }

int mtx_timedlock(struct proviso_mutex *mutex, const struct proviso_moment *until) {
    return proviso_thread_result(proviso_lock(mutex, proviso_timeout(until), EDEADLK));
}

int mtx_unlock(struct proviso_mutex *mutex) { return proviso_thread_result(proviso_unlock(mutex)); }

void call_once(int *once, void (*routine)(void)) { proviso_once(once, routine); }

int cnd_init(void *condition) {
    RESETS_CONDITION(condition);
    __builtin_memset(condition, 0, 48);
    return PROVISO_SUCCESS;
}

void cnd_destroy(void *condition) { RESETS_CONDITION(condition); }

int cnd_signal(void *condition) { return pthread_cond_signal(condition); }

int cnd_broadcast(void *condition) { return pthread_cond_broadcast(condition); }

int cnd_wait(void *condition, struct proviso_mutex *mutex) {
    return proviso_thread_result(proviso_wait(condition, mutex));
}

int cnd_timedwait(void *condition, struct proviso_mutex *mutex, const struct proviso_moment *until) {
    return proviso_thread_result(proviso_timed_wait(condition, mutex, until));
}

int tss_create(unsigned *key, void (*destructor)(void *)) {
    return proviso_thread_result(proviso_create_key(key, destructor));
}

void tss_delete(unsigned key) { proviso_delete_key(key); }

void *tss_get(unsigned key) { return proviso_get_specific(key); }

int tss_set(unsigned key, void *value) { return proviso_thread_result(proviso_set_specific(key, value)); }

unsigned long thrd_current(void) { return pthread_self(); }

int thrd_equal(unsigned long a, unsigned long b) { return a == b; }

void thrd_yield(void) {}

// A signal may interrupt it: -1, with the remaining time.
int thrd_sleep(const struct proviso_moment *time, struct proviso_moment *left) {
    if (time->seconds < 0 || time->nanoseconds < 0 || time->nanoseconds >= 1000000000)
        return -2;
    if (!__proviso_env_bool())
        return 0;
    // `left` may alias `time`.
    const struct proviso_moment asked = *time;
    if (left) {
        left->seconds = __proviso_env_long();
        left->nanoseconds = __proviso_env_long();
        __proviso_assume((left->seconds >= 0) & (left->nanoseconds >= 0) & (left->nanoseconds < 1000000000) &
                         ((left->seconds < asked.seconds) |
                          ((left->seconds == asked.seconds) & (left->nanoseconds <= asked.nanoseconds))));
    }
    return -1;
}

#ifdef PROVISO_THREADS
void thrd_exit(int result) { proviso_leave((void *)(long)result); }
#else
void thrd_exit(int result) { proviso_end_thread(); }
#endif
