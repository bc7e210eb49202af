// signal.h: sets of signals, and blocked signals.
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
