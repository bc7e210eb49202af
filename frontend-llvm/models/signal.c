// Defines: raise kill __libc_current_sigrtmin __libc_current_sigrtmax sigaction
// Defines: signal bsd_signal sysv_signal __sysv_signal signal.void bsd_signal.void sysv_signal.void __sysv_signal.void
// Defines: sigemptyset sigfillset sigaddset sigdelset sigismember sigprocmask pthread_sigmask
#pragma once
#include "proviso.h"

// signal.h. Handlers run in `raise`, and at no other time.

// A set of signals has room for 1024, of which the library uses 64. Two are reserved by the library.
enum { PROVISO_SIGNALS = 8 };

static _Bool proviso_is_signal(int signal) { return signal >= 1 && signal <= 64; }

// True for a signal that the library does not use itself.
static _Bool proviso_is_usable(int signal) { return proviso_is_signal(signal) && signal != 32 && signal != 33; }

int __libc_current_sigrtmin(void) { return 34; }

int __libc_current_sigrtmax(void) { return 64; }

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
    if (!proviso_is_usable(signal)) {
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

// The blocked signals: initially arbitrary, except SIGKILL and SIGSTOP. These two and the library's own signals cannot be
// blocked.
static unsigned long long proviso_blocked;
static _Bool proviso_knows_blocked;
static const unsigned long long proviso_never_blocked = 1ull << 8 | 1ull << 18;
// Signals that cannot have been blocked, because their handlers have run.
static unsigned long long proviso_unblocked;

// Each thread has blocked signals of its own. The model has those of one thread.
#ifdef PROVISO_THREADS
// True if a thread, and if this thread, has used the blocked signals.
static _Bool proviso_mask_is_used;
static _Thread_local _Bool proviso_uses_mask;

static void proviso_use_mask(void) {
    if (proviso_mask_is_used && !proviso_uses_mask)
        __proviso_unmodelled("blocked signals of several threads are not modelled");
    proviso_mask_is_used = proviso_uses_mask = 1;
}
#else
static void proviso_use_mask(void) {}
#endif

// Returns the error, or 0.
static int proviso_change_mask(int how, const unsigned long long *set, unsigned long long *old) {
    const unsigned long long never = proviso_never_blocked, own = 3ull << 31;
    proviso_use_mask();
    unsigned long long blocked = proviso_blocked;
    _Bool known = proviso_knows_blocked;
    if (set)
        proviso_put_out(set, sizeof *set);
    unsigned long long given = set ? *set : 0, before = blocked;
    // Harnesses define the results of all calls or of none, because each call takes a value of the environment.
    (void)__proviso_env_bool();
    if (set && (how < 0 || how > 2))
        return EINVAL;
    if (old || !known) {
        __proviso_env_memory(old ? old : &before, sizeof before);
        before = old ? *old : before;
        __proviso_assume(known ? before == blocked : (before & (never | proviso_unblocked | blocked)) == blocked);
    }
    proviso_knows_blocked = 1;
    proviso_blocked = before;
    given &= ~(never | own);
    if (set)
        proviso_blocked = how == 0 ? before | given : how == 1 ? before & ~given : given;
    return 0;
}

int sigprocmask(int how, const unsigned long long *set, unsigned long long *old) {
    int error = proviso_change_mask(how, set, old);
    SET_ERRNO_IF(error, error);
    return error ? -1 : 0;
}

int pthread_sigmask(int how, const unsigned long long *set, unsigned long long *old) {
    return proviso_change_mask(how, set, old);
}

// The actions of signals. A program starts without handlers: the parent process determines which signals are ignored.

#define DEFAULT NULL
#define IGNORE ((void *)1)
#define ERROR ((void *)-1)
enum { ABORT = 6, KILL = 9, PIPE = 13, CHILD = 17, STOP = 19, INPUT = 21, OUTPUT = 22, FILE_SIZE = 25 };
// The library sets RESTORER for x86-64. For i386, the system has a shared object for it.
enum { SIGINFO = 4, RESTORER = sizeof(long) == 8 ? 0x4000000 : 0, RESTART = 0x10000000, NODEFER = 0x40000000 };
static const unsigned proviso_resets = 0x80000000, proviso_known_flags = 0xdc000807;

// By signal: the handler, the signals that are blocked while it runs, and flags.
static void *proviso_signal_handlers[65];
static unsigned long long proviso_masks[65];
static unsigned proviso_flags[65];
// By signal: true if the program has set or read the action.
static _Bool proviso_knows_action[65];

static _Bool proviso_is_handler(void *handler) { return handler != DEFAULT && handler != IGNORE; }

// The handler of a signal.
static void *proviso_handler_of(int signal) {
    if (!proviso_knows_action[signal]) {
        // `Environment::new` reads this choice.
        _Bool is_ignored = __proviso_env_bool();
        __proviso_assume(!is_ignored || (signal != KILL && signal != STOP));
        proviso_signal_handlers[signal] = is_ignored ? IGNORE : DEFAULT;
        proviso_knows_action[signal] = 1;
    }
    _Bool resets = proviso_flags[signal] & proviso_resets;
    if (resets && proviso_is_handler(proviso_signal_handlers[signal]) && __proviso_env_bool()) {
        __proviso_overapproximated("a signal may have reset its action");
        proviso_signal_handlers[signal] = DEFAULT;
    }
    return proviso_signal_handlers[signal];
}

static void proviso_set_action(int signal, void *handler, unsigned long long mask, unsigned flags) {
    proviso_signal_handlers[signal] = handler;
    proviso_masks[signal] = mask & ~proviso_never_blocked;
    proviso_flags[signal] = flags;
    proviso_knows_action[signal] = 1;
    proviso_handles_signals |= proviso_is_handler(handler);
    // Functions such as `write` and `wait` send these signals, and act in other ways if the program ignores them.
    _Bool is_of_output = signal == PIPE || signal == FILE_SIZE || signal == INPUT || signal == OUTPUT;
    if (is_of_output ? handler != IGNORE : signal == CHILD && handler != DEFAULT)
        __proviso_unmodelled("library functions that send this signal do not take its action into account");
}

// The layout of `struct sigaction` in the GNU C library for x86.
struct proviso_action {
    void *handler;
    unsigned long mask[128 / sizeof(long)];
    unsigned flags;
    void *restorer;
};

int sigaction(int signal, const struct proviso_action *new, struct proviso_action *old) {
    if (!proviso_is_usable(signal) || (new && (signal == KILL || signal == STOP))) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    void *handler = NULL;
    unsigned long long mask = 0;
    unsigned flags = 0;
    if (new) {
        handler = new->handler;
        proviso_put_out(new->mask, PROVISO_SIGNALS);
        __builtin_memcpy(&mask, new->mask, sizeof mask);
        proviso_put_out(&new->flags, sizeof new->flags);
        flags = new->flags;
    }
    if (old) {
        // The library does not initialise the rest.
        struct proviso_action former;
        __builtin_memcpy(old->mask, former.mask, sizeof former.mask);
        __builtin_memcpy(&old->restorer, &former.restorer, sizeof former.restorer);
        old->handler = proviso_handler_of(signal);
        __builtin_memcpy(old->mask, &proviso_masks[signal], sizeof *proviso_masks);
        old->flags = proviso_flags[signal];
    }
    if (new) {
        if (flags & ~proviso_known_flags) {
            __proviso_overapproximated("unknown flags of sigaction depend on the system");
            flags &= __proviso_env_bool() ? ~0u : proviso_known_flags;
        }
        proviso_set_action(signal, handler, mask, flags | RESTORER);
        if (proviso_is_handler(handler))
            __proviso_handler(signal, handler);
    }
    return 0;
}

// Returns false if `signal` fails.
static _Bool proviso_can_signal(int signal, void *handler) {
    if (!proviso_is_usable(signal) || signal == KILL || signal == STOP || handler == ERROR) {
        SET_ERRNO(EINVAL);
        return 0;
    }
    return 1;
}

// Sets an action of `signal`, as in BSD and in System V.
static void proviso_signal_bsd(int signal, void *handler) {
    proviso_set_action(signal, handler, 1ull << (signal - 1), RESTART | RESTORER);
}

static void proviso_signal_sysv(int signal, void *handler) {
    proviso_set_action(signal, handler, 0, proviso_resets | NODEFER | RESTORER);
}

// These are one function each in a line, so that places in them differ.
#define PROVISO_SIGNAL(name, variant)                                                                                  \
    void *name(int signal, void *handler) {                                                                            \
        if (!proviso_can_signal(signal, handler))                                                                      \
            return ERROR;                                                                                              \
        void *former = proviso_handler_of(signal);                                                                     \
        variant(signal, handler);                                                                                      \
        if (proviso_is_handler(handler))                                                                               \
            __proviso_handler(signal, handler);                                                                        \
        return former;                                                                                                 \
    }
// For calls that do not use the result. They take no value of the environment. The lowering knows the prefix.
#define PROVISO_IGNORED_SIGNAL(name, variant)                                                                          \
    void proviso_ignored_##name(int signal, void *handler) __asm__(#name ".void");                                     \
    void proviso_ignored_##name(int signal, void *handler) {                                                           \
        if (!proviso_can_signal(signal, handler))                                                                      \
            return;                                                                                                    \
        variant(signal, handler);                                                                                      \
        if (proviso_is_handler(handler))                                                                               \
            __proviso_handler(signal, handler);                                                                        \
    }

PROVISO_SIGNAL(signal, proviso_signal_bsd)
PROVISO_IGNORED_SIGNAL(signal, proviso_signal_bsd)
PROVISO_SIGNAL(bsd_signal, proviso_signal_bsd)
PROVISO_IGNORED_SIGNAL(bsd_signal, proviso_signal_bsd)
PROVISO_SIGNAL(sysv_signal, proviso_signal_sysv)
PROVISO_IGNORED_SIGNAL(sysv_signal, proviso_signal_sysv)
PROVISO_SIGNAL(__sysv_signal, proviso_signal_sysv)
PROVISO_IGNORED_SIGNAL(__sysv_signal, proviso_signal_sysv)

// Runs the handler of a signal that is not blocked.
static void proviso_run_handler(int signal, void *handler) {
    unsigned long long before = proviso_blocked;
    _Bool known = proviso_knows_blocked;
    unsigned flags = proviso_flags[signal];
    proviso_unblocked |= 1ull << (signal - 1);
    proviso_blocked |= proviso_masks[signal] | (flags & NODEFER ? 0 : 1ull << (signal - 1));
    if (flags & proviso_resets)
        proviso_signal_handlers[signal] = DEFAULT;
    ((void (*)(int))handler)(signal);
    if (proviso_knows_blocked != known)
        __proviso_overapproximated("the blocked signals after this handler are not modelled exactly");
    proviso_blocked = before;
    proviso_knows_blocked = known;
}

int raise(int signal) {
    if (signal < 0 || signal > 64) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (signal == 0)
        return 0;
    proviso_use_mask();
    void *handler = proviso_signal_handlers[signal];
    _Bool is_blocked = proviso_blocked >> (signal - 1) & 1;
    if (handler == IGNORE && !is_blocked)
        return 0;
    if (proviso_is_handler(handler) && !is_blocked && !(proviso_flags[signal] & SIGINFO)) {
        // The parent process may have blocked the signal.
        __proviso_underapproximated("a blocked signal is not modelled");
        proviso_run_handler(signal, handler);
        return 0;
    }
    // Without a handler, SIGABRT ends the program. After other signals, the program continues as after a handler.
    if (signal == ABORT && handler == DEFAULT) {
        __proviso_unmodelled("the parent process may have ignored or blocked this signal");
        if (__proviso_env_bool())
            __proviso_abort();
        return 0;
    }
    if (proviso_is_handler(handler))
        __proviso_unmodelled("a handler with SA_SIGINFO, or of a blocked signal, does not run");
    else
        __proviso_unmodelled("signals are not modelled");
    return 0;
}

int kill(int process, int signal) {
    __proviso_unmodelled("signals are not modelled");
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}
