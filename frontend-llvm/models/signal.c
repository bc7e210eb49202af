// Defines: raise kill sigemptyset sigfillset sigaddset sigdelset sigismember sigprocmask
#pragma once
#include "proviso.h"

// signal.h, without handlers.

int raise(int signal) {
    // Without a handler, SIGABRT ends the program. Handlers are not modelled: the program continues as after a handler.
    if (signal == 6)
        __proviso_abort();
    __proviso_unmodelled("signals are not modelled");
    return 0;
}

int kill(int process, int signal) {
    __proviso_unmodelled("signals are not modelled");
    return proviso_env_between(-1, 0);
}

// A set of signals has room for 1024, of which the library uses 64. Two are reserved by the library.
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

// The blocked signals: initially arbitrary, except SIGKILL and SIGSTOP. These two and the library's own signals cannot be blocked.
int sigprocmask(int how, const unsigned long long *set, unsigned long long *old) {
    const unsigned long long never = 1ull << 8 | 1ull << 18, own = 3ull << 31;
    static unsigned long long blocked;
    static _Bool known;
    if (set)
        proviso_put_out(set, sizeof *set);
    unsigned long long given = set ? *set : 0, before = blocked;
    // Harnesses define the results of all calls or of none, because each call takes a value of the environment.
    (void)__proviso_env_bool();
    if (set && (how < 0 || how > 2)) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (old || !known) {
        __proviso_env_memory(old ? old : &before, sizeof before);
        before = old ? *old : before;
        __proviso_assume(known ? before == blocked : (before & never) == 0);
    }
    known = 1;
    blocked = before;
    given &= ~(never | own);
    if (set)
        blocked = how == 0 ? before | given : how == 1 ? before & ~given : given;
    return 0;
}
