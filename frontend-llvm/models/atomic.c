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
    OPERANDS_ARE_UNCHECKED;
    char *now = __proviso_scratch(size);
    ATOMICALLY(order);
    __builtin_memcpy(now, from, size);
    ATOMICALLY_DONE;
    __builtin_memcpy(result, now, size);
    __proviso_drop(now);
}

void proviso_atomic_store(size_t size, void *to, const void *value, int order) {
    OPERANDS_ARE_UNCHECKED;
    char *next = __proviso_scratch(size);
    __builtin_memcpy(next, value, size);
    ATOMICALLY(order);
    __builtin_memcpy(to, next, size);
    ATOMICALLY_DONE;
    __proviso_drop(next);
}

void proviso_atomic_exchange(size_t size, void *at, const void *value, void *result, int order) {
    OPERANDS_ARE_UNCHECKED;
    char *before = __proviso_scratch(size), *next = __proviso_scratch(size);
    __builtin_memcpy(next, value, size);
    ATOMICALLY(order);
    __builtin_memcpy(before, at, size);
    __builtin_memcpy(at, next, size);
    ATOMICALLY_DONE;
    __builtin_memcpy(result, before, size);
    __proviso_drop(before);
    __proviso_drop(next);
}

_Bool proviso_atomic_compare_exchange(size_t size, void *at, void *expected, const void *desired, int success, int failure) {
    OPERANDS_ARE_UNCHECKED;
    char *now = __proviso_scratch(size), *next = __proviso_scratch(size), *old = __proviso_scratch(size);
    __builtin_memcpy(old, expected, size);
    __builtin_memcpy(next, desired, size);
    _Bool same = 1;
    ATOMICALLY(failure);
    __builtin_memcpy(now, at, size);
    for (size_t i = 0; i < size; i++)
        same &= now[i] == old[i];
    if (same) {
        ATOMICALLY_UPDATE(at, success);
        __builtin_memcpy(at, next, size);
    }
    ATOMICALLY_DONE;
    if (!same)
        __builtin_memcpy(expected, now, size);
    __proviso_drop(now);
    __proviso_drop(next);
    __proviso_drop(old);
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
