// Defines: pthread_create pthread_join pthread_detach pthread_cancel pthread_barrier_init pthread_barrier_wait
// Defines: pthread_barrier_destroy pthread_setconcurrency pthread_yield thrd_create thrd_join thrd_detach
#pragma once
// Functions that only programs with threads use. PROVISO_THREADS is defined then.
#include "pthread.c"

#ifdef PROVISO_THREADS
static void *proviso_run(void *thread) {
    struct proviso_thread *own = thread;
    void *result, *argument = own->argument;
    // From here on, only the thread refers to what its argument points to.
    own->argument = NULL;
    if (own->gives_int)
        result = (void *)(long)((int (*)(void *))own->start)(argument);
    else
        result = own->start(argument);
    proviso_finish(result);
    return NULL;
}

// Starts a thread. Its identifier is stored before it runs.
static void proviso_start(unsigned long *id, void *(*start)(void *), void *argument, _Bool gives_int,
                          _Bool detached) {
    struct proviso_thread *thread = __proviso_make_internal(sizeof *thread);
    __builtin_memset(thread, 0, sizeof *thread);
    thread->start = start;
    thread->argument = argument;
    thread->gives_int = gives_int;
    thread->detached = detached;
    __proviso_atomic_begin(SYNCHRONISES);
    *id = (unsigned long)thread;
    proviso_live++;
    __proviso_thread_start(proviso_run, thread);
    __proviso_atomic_finish();
}

int pthread_create(unsigned long *id, const int *attributes, void *(*start)(void *), void *argument) {
    proviso_start(id, start, argument, 0, attributes && *attributes);
    return 0;
}

// True if the thread is detached.
#ifdef PROVISO_DETACHES
static _Bool proviso_is_detached(struct proviso_thread *thread) {
    __proviso_atomic_begin(OBSERVES);
    _Bool detached = thread->detached;
    if (detached && thread->ended)
        __proviso_unmodelled("the identifier of a detached thread that has ended is not modelled");
    __proviso_atomic_finish();
    return detached;
}
#else
#define proviso_is_detached(thread) 0
#endif

// A thread does not wait for itself.
static int proviso_join(unsigned long id, void **result) {
    struct proviso_thread *thread = (struct proviso_thread *)id;
    if (proviso_is_detached(thread))
        return EINVAL;
    if (thread == proviso_this())
        return EDEADLK;
    proviso_test_cancel();
    __proviso_atomic_when(&thread->ended, EQUAL, 1, proviso_interrupt());
    ACT_AFTER_WAIT(thread->ended, );
    __proviso_acquire(thread, 0);
    *result = thread->result;
    // A later thread may get this identifier.
    if (thread != &proviso_first)
        __proviso_drop(thread);
    __proviso_atomic_finish();
    return 0;
}

int pthread_join(unsigned long id, void **result) {
    void *value;
    int error = proviso_join(id, &value);
    if (!error && result)
        *result = value;
    return error;
}

static int proviso_detach(unsigned long id) {
    struct proviso_thread *thread = (struct proviso_thread *)id;
    if (proviso_is_detached(thread))
        return EINVAL;
    __proviso_atomic_begin(SYNCHRONISES);
    thread->detached = 1;
    proviso_free_identifier(thread);
    __proviso_atomic_finish();
    return 0;
}

int pthread_detach(unsigned long id) { return proviso_detach(id); }

int pthread_cancel(unsigned long id) {
    struct proviso_thread *thread = (struct proviso_thread *)id;
    __proviso_atomic_begin(SYNCHRONISES);
    __proviso_release(&thread->cancelled);
    thread->cancelled = 1;
    __proviso_atomic_finish();
    return 0;
}

int thrd_create(unsigned long *id, int (*start)(void *), void *argument) {
    proviso_start(id, (void *(*)(void *))start, argument, 1, 0);
    return 0;
}

int thrd_join(unsigned long id, int *result) {
    void *value;
    int error = proviso_join(id, &value);
    if (!error && result)
        *result = (int)(long)value;
    return error ? 2 : 0; // thrd_error
}

int thrd_detach(unsigned long id) { return proviso_detach(id) ? 2 : 0; } // thrd_error

struct proviso_barrier {
    unsigned count, waiting;
    // Not the first word: a thread that no longer has to wait does not use the barrier.
    int generation;
};

int pthread_barrier_init(struct proviso_barrier *barrier, const void *attributes, unsigned count) {
    if (count == 0)
        return EINVAL;
    RESETS_LOCK(barrier);
    barrier->count = count;
    barrier->waiting = 0;
    barrier->generation = 0;
    return 0;
}

int pthread_barrier_destroy(struct proviso_barrier *barrier) {
    RESETS_LOCK(barrier);
    __proviso_atomic_begin(SYNCHRONISES);
    if (barrier->waiting)
        __proviso_unmodelled("destroying a barrier at which a thread waits is not modelled");
    __proviso_atomic_finish();
    return 0;
}

int pthread_barrier_wait(struct proviso_barrier *barrier) {
    __proviso_atomic_begin(SYNCHRONISES);
    USES_LOCK(barrier);
    __proviso_release(barrier);
    int generation = barrier->generation;
    _Bool last = ++barrier->waiting == barrier->count;
    if (last) {
        barrier->waiting = 0;
        barrier->generation++;
    } else {
        __proviso_atomic_finish();
        __proviso_atomic_when(&barrier->generation, UNEQUAL, generation, NULL);
    }
    __proviso_acquire(barrier, 0);
    __proviso_atomic_finish();
    return last ? -1 : 0;
}

int pthread_setconcurrency(int level) { return level < 0 ? EINVAL : 0; }

int pthread_yield(void) { return 0; }
#endif
