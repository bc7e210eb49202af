// Defines: raise kill sigemptyset sigfillset sigaddset sigdelset sigprocmask
#pragma once
#include "proviso.h"

// signal.h, without handlers.

int raise(int signal) {
    // SIGABRT without a handler ends the program; a handler, if there is one, is not modelled.
    if (signal != 6)
        __proviso_unmodelled("signals are not modelled");
    __proviso_abort();
}

int kill(int process, int signal) {
    __proviso_unmodelled("signals are not modelled");
    return proviso_env_between(-1, 0);
}

// A set of signals has 1024 bits.
int sigemptyset(void *set) {
    __builtin_memset(set, 0, 128);
    return 0;
}

int sigfillset(void *set) {
    __builtin_memset(set, 255, 128);
    return 0;
}

static int proviso_set_signal(unsigned long *set, int signal, _Bool in) {
    if (signal < 1 || signal > 64) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    unsigned bits = 8 * sizeof(long);
    unsigned long mask = 1ul << (signal - 1) % bits;
    unsigned long *word = &set[(signal - 1) / bits];
    *word = in ? *word | mask : *word & ~mask;
    return 0;
}

int sigaddset(unsigned long *set, int signal) { return proviso_set_signal(set, signal, 1); }

int sigdelset(unsigned long *set, int signal) { return proviso_set_signal(set, signal, 0); }

int sigprocmask(int how, const void *set, void *old) {
    if (set)
        proviso_read(set, 128);
    if (old)
        __proviso_env_memory(old, 128);
    return proviso_env_between(-1, 0);
}
