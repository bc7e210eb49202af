// run: -DRUN=0 => TRUE
// run: -DRUN=1 => FALSE(unreach-call)
// run: -DRUN=2 => FALSE(unreach-call)
// run: -DRUN=3 => FALSE(unreach-call)
// run: -DRUN=4 => FALSE(unreach-call)
// run: -DRUN=5 => FALSE(unreach-call)
// run: -DRUN=6 => FALSE(unreach-call)
// run: -DRUN=7 => UNKNOWN
// run: -DRUN=8 => FALSE(unreach-call)
// run: -DRUN=9 => UNKNOWN
// run: -DRUN=10 => FALSE(unreach-call)
// run: -DRUN=11 => FALSE(unreach-call)
// run: -DRUN=12 => UNKNOWN
// run: -DRUN=13 => UNKNOWN
// run: -DRUN=14 => UNKNOWN
// run: -DRUN=15 => UNKNOWN
// run: -DRUN=16 => TRUE
// Handlers of signals run in `raise`. Afterwards there is no proof, because they may also run at any other time.
#define _GNU_SOURCE
#include "../verify.h"
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static int count;

static void add(int number) { count += number; }

static void fail(int number) {
    if (number == SIGUSR1)
        reach_error(); // wrong
}

static void nested(int number) {
    count++;
    signal(SIGUSR2, SIG_IGN);
    check(raise(SIGUSR2) == 0);
}

static void *started(void *unused) {
    raise(SIGUSR1);
    if (count)
        reach_error();
    return unused;
}

static void informed(int number, siginfo_t *info, void *context) {
    if (info->si_signo == number)
        reach_error();
}

// Actions that are no handlers do not prevent a proof.
static void without_handlers(void) {
    struct sigaction action = {.sa_flags = SA_RESTART | SA_NOCLDSTOP}, former;
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, SIGINT);
    sigaddset(&action.sa_mask, SIGKILL);
    check(sigaction(SIGTERM, NULL, &former) == 0);
    check(former.sa_handler == SIG_DFL || former.sa_handler == SIG_IGN);
    check(former.sa_flags == 0 && !sigismember(&former.sa_mask, SIGINT));
    action.sa_handler = SIG_IGN;
    check(sigaction(SIGTERM, &action, NULL) == 0);
    check(raise(SIGTERM) == 0);
    action.sa_handler = SIG_DFL;
    check(sigaction(SIGTERM, &action, &action) == 0);
    check(action.sa_handler == SIG_IGN && (action.sa_flags & SA_RESTART) && !(action.sa_flags & SA_NODEFER));
    check(sigismember(&action.sa_mask, SIGINT) == 1 && sigismember(&action.sa_mask, SIGKILL) == 0);
    check(sigismember(&action.sa_mask, SIGTERM) == 0);
    check(signal(SIGTERM, SIG_IGN) == SIG_DFL);
    check(sigaction(SIGTERM, NULL, &former) == 0 && former.sa_handler == SIG_IGN);
    check(sigismember(&former.sa_mask, SIGTERM) == 1 && (former.sa_flags & SA_RESTART));
    check(sysv_signal(SIGTERM, SIG_DFL) == SIG_IGN);
    check(sigaction(SIGTERM, NULL, &former) == 0 && former.sa_handler == SIG_DFL);
    check(sigismember(&former.sa_mask, SIGTERM) == 0 && (former.sa_flags & SA_RESETHAND) && (former.sa_flags & SA_NODEFER));
    check(SIGRTMIN == 34 && SIGRTMAX == 64);
    static const int bad[] = {-1, 0, 32, 33, 65, SIGKILL, SIGSTOP};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        errno = 0;
        check(sigaction(bad[i], &action, NULL) == -1 && errno == EINVAL);
        errno = 0;
        check(signal(bad[i], SIG_IGN) == SIG_ERR && errno == EINVAL);
        errno = 0;
        check(sigaction(bad[i], NULL, &former) == (bad[i] == SIGKILL || bad[i] == SIGSTOP ? 0 : -1));
        check(errno == (bad[i] == SIGKILL || bad[i] == SIGSTOP ? 0 : EINVAL));
    }
    errno = 0;
    check(signal(SIGINT, SIG_ERR) == SIG_ERR && errno == EINVAL);
    check(raise(0) == 0);
    check(raise(65) == -1);
}

int main(void) {
    struct sigaction action = {.sa_handler = fail}, former;
    void (*handler)(int);
#if RUN == 0
    without_handlers();
#elif RUN == 1 // the handler runs
    signal(SIGUSR1, fail);
    raise(SIGUSR1);
#elif RUN == 2
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
#elif RUN == 3 // the former handler is called
    sigaction(SIGUSR2, &action, NULL);
    action.sa_handler = add;
    sigaction(SIGUSR2, &action, &former);
    former.sa_handler(SIGUSR1);
#elif RUN == 4
    signal(SIGUSR2, fail);
    handler = signal(SIGUSR2, SIG_DFL);
    check(handler == fail && signal(SIGUSR2, SIG_IGN) == SIG_DFL);
    handler(SIGUSR1);
#elif RUN == 5 // a signal may be ignored at the start
    if (signal(SIGINT, SIG_IGN) == SIG_IGN)
        reach_error(); // wrong
#elif RUN == 6 // or not
    sigaction(SIGINT, NULL, &former);
    if (former.sa_handler != SIG_IGN)
        reach_error(); // wrong
#elif RUN == 7 // the handler may run at any time
    signal(SIGUSR1, fail);
#elif RUN == 8
    signal(SIGABRT, add);
    raise(SIGABRT);
    if (count == SIGABRT)
        reach_error(); // wrong
#elif RUN == 9
    action.sa_sigaction = informed;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
#elif RUN == 10 // the action of System V is reset
    sysv_signal(SIGUSR1, add);
    raise(SIGUSR1);
    if (count == SIGUSR1 && sysv_signal(SIGUSR1, SIG_IGN) == SIG_DFL)
        reach_error(); // wrong
#elif RUN == 11
    signal(SIGUSR1, nested);
    raise(SIGUSR1);
    raise(SIGUSR1);
    if (count == 2 && signal(SIGUSR1, SIG_DFL) == nested)
        reach_error(); // wrong
#elif RUN == 12 // a signal whose handler ran was not blocked
    sigset_t blocked;
    signal(SIGUSR1, add);
    raise(SIGUSR1);
    sigprocmask(SIG_BLOCK, NULL, &blocked);
    if (count && sigismember(&blocked, SIGUSR1))
        reach_error();
#elif RUN == 13 // a thread inherits the blocked signals of the thread that starts it
    sigset_t blocked;
    pthread_t thread;
    sigemptyset(&blocked);
    sigaddset(&blocked, SIGUSR1);
    signal(SIGUSR1, add);
    sigprocmask(SIG_BLOCK, &blocked, NULL);
    if (pthread_create(&thread, NULL, started, NULL))
        return 0;
    sigprocmask(SIG_UNBLOCK, &blocked, NULL);
    pthread_join(thread, NULL);
#elif RUN == 14 // `write` sends SIGPIPE
    sigset_t blocked;
    int ends[2];
    sigemptyset(&blocked);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    signal(SIGPIPE, _exit);
    if (pipe(ends))
        return 0;
    close(ends[0]);
    write(ends[1], "a", 1);
    reach_error();
#elif RUN == 15 // the parent process may have ignored SIGABRT
    raise(SIGABRT);
    reach_error();
#elif RUN == 16
    signal(SIGPIPE, SIG_IGN);
    signal(SIGCHLD, SIG_DFL);
    check(raise(SIGPIPE) == 0);
#endif
    return 0;
}
