// Defines: klee_make_symbolic klee_range klee_int klee_silent_exit klee_prefer_cex
#pragma once
#include "proviso.h"

// klee/klee.h: the inputs of programs written for KLEE.

void klee_make_symbolic(void *object, size_t size, const char *name) { __proviso_env_memory(object, size); }

int klee_range(int begin, int end, const char *name) {
    int value = __proviso_env_int();
    __proviso_assume((value >= begin) & (value < end));
    return value;
}

int klee_int(const char *name) { return __proviso_env_int(); }

void klee_silent_exit(int status) { __proviso_exit(status); }

void klee_prefer_cex(void *object, unsigned long condition) {}
