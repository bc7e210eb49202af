// signal.h: sets of signals, blocked signals, and actions without handlers.
#define _GNU_SOURCE
#include "harness.h"
#include <signal.h>

static sigset_t *random_set(void) {
    sigset_t *set = room(sizeof(sigset_t));
    unsigned kind = random_below(3);
    for (unsigned i = 0; i < sizeof *set; i++)
        ((unsigned char *)set)[i] = kind == 0 ? 0 : kind == 1 ? 255 : random_bits();
    return set;
}
static int some_signal(void) { return random_below(8) ? (int)random_below(70) - 2 : (int)random_bits(); }

DRIVER(sigemptyset) { see(LIB(sigemptyset)(random_set())); }
DRIVER(sigfillset) { see(LIB(sigfillset)(random_set())); }
DRIVER(sigaddset) {
    sigset_t *set = random_set();
    see(LIB(sigaddset)(set, some_signal()));
}
DRIVER(sigdelset) {
    sigset_t *set = random_set();
    see(LIB(sigdelset)(set, some_signal()));
}
DRIVER(sigismember) {
    sigset_t *set = random_set();
    see(LIB(sigismember)(set, some_signal()));
}
DRIVER(sigprocmask) {
    asks_environment();
    // Only these signals are blocked or unblocked.
    sigset_t *set = room(sizeof(sigset_t));
    memset(set, 0, sizeof *set);
    NATIVELY {
        sigemptyset(set);
        sigaddset(set, SIGUSR1);
        sigaddset(set, SIGWINCH);
        sigprocmask(SIG_UNBLOCK, set, NULL);
        sigemptyset(set);
    }
    ((unsigned char *)set)[1] = random_below(2) ? 2 : 0;
    int how = ONE_OF(SIG_BLOCK, SIG_UNBLOCK, SIG_SETMASK, 7, -1), with_set = random_below(3);
    sigset_t *old = random_below(3) ? random_set() : NULL;
    say("how %d, %d, set %d, old %d", how, with_set, ((unsigned char *)set)[1], old != NULL);
    see(LIB(sigprocmask)(how, with_set ? set : NULL, old));
    if (old)
        see_bytes(old, 8);
    see(LIB(sigprocmask)(SIG_BLOCK, NULL, old));
}
// The library does not initialise the other bytes.
static void see_action(const struct sigaction *action) {
    see(action->sa_handler == SIG_IGN ? 1 : action->sa_handler == SIG_DFL ? 0 : 2);
    see_bytes(&action->sa_mask, 8);
    see(action->sa_flags);
}
static int action_of_signal(void) { return ONE_OF(SIGUSR1, SIGWINCH, SIGKILL, SIGSTOP, 0, -1, 32, 33, 65); }
DRIVER(sigaction) {
    asks_environment();
    int number = action_of_signal();
    struct sigaction *action = room(sizeof *action), old;
    memset(action, 0, sizeof *action);
    action->sa_handler = random_below(2) ? SIG_IGN : SIG_DFL;
    action->sa_flags = ONE_OF(0, SA_RESTART, SA_NODEFER | (int)SA_RESETHAND, SA_NOCLDSTOP, SA_SIGINFO);
    for (unsigned i = 0; i < 8; i++)
        ((unsigned char *)&action->sa_mask)[i] = random_bits();
    say("signal %d", number);
    see(LIB(sigaction)(number, action, NULL));
    if (LIB(sigaction)(number, random_below(2) ? action : NULL, &old) == 0)
        see_action(&old);
}
#define SIGNAL_DRIVER(function)                                                                                       \
    DRIVER(function) {                                                                                                 \
        asks_environment();                                                                                            \
        int number = action_of_signal();                                                                               \
        void (*first)(int) = random_below(2) ? SIG_IGN : SIG_DFL, (*second)(int) = random_below(4) ? SIG_IGN : SIG_ERR; \
        struct sigaction old;                                                                                          \
        say("signal %d", number);                                                                                      \
        LIB(function)(number, first);                                                                                  \
        see((long)LIB(function)(number, second));                                                                      \
        if (LIB(sigaction)(number, NULL, &old) == 0)                                                                   \
            see_action(&old);                                                                                          \
    }
SIGNAL_DRIVER(signal)
SIGNAL_DRIVER(sysv_signal)
