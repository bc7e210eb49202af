// Defines: __atomic_load __atomic_store __atomic_exchange __atomic_compare_exchange __atomic_is_lock_free
// Defines: atomic_flag_test_and_set atomic_flag_test_and_set_explicit atomic_flag_clear atomic_flag_clear_explicit
// Defines: atomic_thread_fence atomic_signal_fence
#pragma once
#include "proviso.h"

// Functions that compilers call for atomic operations without an instruction, in a program of one thread. The names are
// reserved, so the compiler does not define them.

extern void proviso_atomic_load(size_t size, const void *from, void *result, int order) __asm__("__atomic_load");
extern void proviso_atomic_store(size_t size, void *to, const void *value, int order) __asm__("__atomic_store");
extern void proviso_atomic_exchange(size_t size, void *at, const void *value, void *result, int order) __asm__("__atomic_exchange");
extern _Bool proviso_atomic_compare_exchange(size_t size, void *at, void *expected, const void *desired, int success,
                                             int failure) __asm__("__atomic_compare_exchange");
extern _Bool proviso_atomic_is_lock_free(size_t size, const void *at) __asm__("__atomic_is_lock_free");
extern void proviso_thread_fence(int order) __asm__("atomic_thread_fence");
extern void proviso_signal_fence(int order) __asm__("atomic_signal_fence");

void proviso_atomic_load(size_t size, const void *from, void *result, int order) {
    ATOMICALLY(order);
    __builtin_memcpy(result, from, size);
    ATOMICALLY_DONE;
}

void proviso_atomic_store(size_t size, void *to, const void *value, int order) {
    ATOMICALLY(order);
    __builtin_memcpy(to, value, size);
    ATOMICALLY_DONE;
}

void proviso_atomic_exchange(size_t size, void *at, const void *value, void *result, int order) {
    char *before = __proviso_scratch(size);
    ATOMICALLY(order);
    __builtin_memcpy(before, at, size);
    __builtin_memcpy(at, value, size);
    ATOMICALLY_DONE;
    __builtin_memcpy(result, before, size);
    __proviso_drop(before);
}

_Bool proviso_atomic_compare_exchange(size_t size, void *at, void *expected, const void *desired, int success, int failure) {
    const char *p = at, *q = expected;
    _Bool same = 1;
    ATOMICALLY(success);
    for (size_t i = 0; i < size; i++)
        same &= p[i] == q[i];
    if (same)
        __builtin_memcpy(at, desired, size);
    else
        __builtin_memcpy(expected, at, size);
    ATOMICALLY_DONE;
    return same;
}

_Bool proviso_atomic_is_lock_free(size_t size, const void *at) {
    return ((size == 1) | (size == 2) | (size == 4) | (size == 8)) && ((uintptr_t)at & (size - 1)) == 0;
}

static _Bool proviso_set_flag(volatile _Bool *flag, int order) {
    ATOMICALLY(order);
    _Bool before = *flag;
    *flag = 1;
    ATOMICALLY_DONE;
    return before;
}

_Bool atomic_flag_test_and_set(volatile _Bool *flag) { return proviso_set_flag(flag, 5); }
_Bool atomic_flag_test_and_set_explicit(volatile _Bool *flag, int order) { return proviso_set_flag(flag, order); }
void atomic_flag_clear_explicit(volatile _Bool *flag, int order) {
    ATOMICALLY(order);
    *flag = 0;
    ATOMICALLY_DONE;
}
void atomic_flag_clear(volatile _Bool *flag) { atomic_flag_clear_explicit(flag, 5); }
void proviso_thread_fence(int order) {
#ifdef PROVISO_THREADS
    if (order)
        __proviso_fence(order <= 2 ? 4 : order + 2);
#endif
}
void proviso_signal_fence(int order) {}
