// Defines: raise kill sigemptyset sigfillset sigaddset sigdelset sigismember sigprocmask
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

// A set of signals has room for 1024, of which the library looks at 64. Two are the library's own.
enum { PROVISO_SIGNALS = 8 };

static _Bool proviso_is_signal(int signal) { return signal >= 1 && signal <= 64; }

int sigemptyset(void *set) {
    __builtin_memset(set, 0, PROVISO_SIGNALS);
    return 0;
}

int sigfillset(unsigned char *set) {
    __builtin_memset(set, 255, PROVISO_SIGNALS);
    set[3] = 0x7f;
    set[4] = 0xfe;
    return 0;
}

static int proviso_set_signal(unsigned char *set, int signal, _Bool in) {
    if (!proviso_is_signal(signal) || signal == 32 || signal == 33) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    unsigned char mask = 1u << (signal - 1) % 8, *byte = &set[(signal - 1) / 8];
    *byte = in ? *byte | mask : *byte & ~mask;
    return 0;
}

int sigaddset(unsigned char *set, int signal) { return proviso_set_signal(set, signal, 1); }

int sigdelset(unsigned char *set, int signal) { return proviso_set_signal(set, signal, 0); }

int sigismember(const unsigned char *set, int signal) {
    if (!proviso_is_signal(signal)) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    return set[(signal - 1) / 8] >> (signal - 1) % 8 & 1;
}

// What is blocked is not followed.
int sigprocmask(int how, const void *set, void *old) {
    if (set) {
        proviso_read(set, PROVISO_SIGNALS);
        if (how < 0 || how > 2) {
            SET_ERRNO(EINVAL);
            return -1;
        }
    }
    if (old)
        __proviso_env_memory(old, PROVISO_SIGNALS);
    return 0;
}
