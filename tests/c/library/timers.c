// run: => TRUE
// run: -DWRONG=left.it_value.tv_sec<5 => UNKNOWN
// run: -DSETS => UNKNOWN
// run: -DWAITS => TRUE
// Timers that are created and read. A timer that is set sends a signal, after which there is no verdict. The remaining time is approximated.
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <time.h>
#include "../verify.h"

#ifndef WRONG
#define WRONG 1
#endif

int main(void) {
    sigset_t set, old;
    sigemptyset(&set);
    sigaddset(&set, SIGALRM);
    check(pthread_sigmask(77, &set, 0) == EINVAL && pthread_sigmask(SIG_BLOCK, &set, 0) == 0);
    check(pthread_sigmask(SIG_BLOCK, 0, &old) == 0 && sigismember(&old, SIGALRM));
    check(prctl(PR_SET_DUMPABLE, 0) <= 0);
    timer_t timer;
    struct itimerspec left = {{0, 0}, {1, 0}};
    if (timer_create(CLOCK_REALTIME, 0, &timer))
        return 1;
#ifdef SETS
    timer_settime(timer, 0, &left, 0);
#endif
    if (timer_gettime(timer, &left) == 0)
        check(left.it_value.tv_nsec < 1000000000 && WRONG); // wrong
    timer_delete(timer);
#ifdef WAITS
    sigsuspend(&old);
    check(0);
#endif
    return 0;
}
