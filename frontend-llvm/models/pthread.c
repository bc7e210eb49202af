// Defines: pthread_self pthread_equal pthread_mutex_init pthread_mutex_destroy pthread_mutex_lock
// Defines: pthread_mutex_trylock pthread_mutex_unlock pthread_mutexattr_init pthread_mutexattr_destroy
// Defines: pthread_mutexattr_settype pthread_attr_init pthread_attr_destroy pthread_attr_setdetachstate
// Defines: pthread_cond_init pthread_cond_destroy pthread_cond_signal pthread_cond_broadcast
#pragma once
#include "proviso.h"

// pthread.h in a program of one thread (making another is not modelled). A mutex begins with an integer that
// is not 0 while it is locked.

unsigned long pthread_self(void) { return 1; }

int pthread_equal(unsigned long a, unsigned long b) { return a == b; }

int pthread_mutex_init(int *mutex, const void *attributes) {
    __builtin_memset(mutex, 0, sizeof(void *) == 4 ? 24 : 40);
    return 0;
}

int pthread_mutex_destroy(int *mutex) { return *mutex ? 16 : 0; }

int pthread_mutex_lock(int *mutex) {
    if (*mutex)
        __proviso_unmodelled("locking a mutex that is locked is not modelled");
    *mutex = 1;
    return 0;
}

int pthread_mutex_trylock(int *mutex) {
    if (*mutex)
        return 16;
    *mutex = 1;
    return 0;
}

int pthread_mutex_unlock(int *mutex) {
    *mutex = 0;
    return 0;
}

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

int pthread_attr_init(void *attributes) {
    __builtin_memset(attributes, 0, sizeof(void *) == 4 ? 36 : 56);
    return 0;
}

int pthread_attr_destroy(void *attributes) { return 0; }

int pthread_attr_setdetachstate(void *attributes, int state) { return state == 0 || state == 1 ? 0 : EINVAL; }

int pthread_cond_init(void *condition, const void *attributes) {
    __builtin_memset(condition, 0, 48);
    return 0;
}

int pthread_cond_destroy(void *condition) { return 0; }

int pthread_cond_signal(void *condition) { return 0; }

int pthread_cond_broadcast(void *condition) { return 0; }
