// run: => TRUE
// run: -DWRONG=WIFSIGNALED(status)&&WTERMSIG(status)==9 => FALSE(unreach-call)
// run: -DWRONG=WIFEXITED(status)&&WEXITSTATUS(status)==255 => FALSE(unreach-call)
// run: -DWRONG=WIFSTOPPED(status) => TRUE
// run: -DOPTIONS=WUNTRACED -DWRONG=WIFSTOPPED(status) => FALSE(unreach-call)
// run: -DWRONG=priority==19 => FALSE(unreach-call)
// native: unseen
// Exit status of other processes, priorities, limits: only values that the system allows.
#include "../verify.h"
#include <errno.h>
#include <sys/resource.h>
#include <sys/wait.h>

#ifndef WRONG
#define WRONG 0
#endif
#ifndef OPTIONS
#define OPTIONS 0
#endif

int main(void) {
    int status = 0, priority = getpriority(PRIO_PROCESS, 0);
    check(priority >= -20 && priority <= 19);
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0)
        check(limit.rlim_cur <= limit.rlim_max);
    if (waitpid(-1, &status, OPTIONS) > 0) {
        check(WIFEXITED(status) || WIFSIGNALED(status) || OPTIONS);
        check(!(WRONG)); // wrong
    }
    return 0;
}
