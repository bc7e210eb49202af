// run: -DRUN=0 => TRUE
// run: -DRUN=1 => FALSE(unreach-call)
// run: -DRUN=2 => FALSE(unreach-call)
// run: -DRUN=3 => UNKNOWN
// run: -DRUN=4 => UNKNOWN
// run: -DRUN=5 => TRUE
// run: -DRUN=6 => UNKNOWN
// run: -DRUN=7 => UNKNOWN
// Each process that `fork` returns in is an execution. What its processes tell each other is not modelled, and loses FALSE.
#define _GNU_SOURCE
#include "../verify.h"
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

static int prepared, in_parent, in_child;
static void before(void) { prepared++; }
static void parent(void) { in_parent++; }
static void child(void) { in_child++; }

int main(void) {
    int number = getpid(), ends[2];
    if (pipe(ends) != 0)
        return 1;
#if RUN >= 5
    pthread_atfork(before, parent, child);
#endif
    pid_t other = fork();
#if RUN == 0
    check(other == 0 ? getpid() != number : getpid() == number && other != number);
    char c, table[16] = {0};
    int status;
    if (other > 0 && read(ends[0], &c, 1) == 1 && waitpid(other, &status, 0) == other && WIFEXITED(status))
        table[WEXITSTATUS(status) & 15] = c;
#elif RUN == 1
    check(!(other == 0)); // wrong
#elif RUN == 2
    check(!(other > 0)); // wrong
#elif RUN == 3
    int status;
    if (other > 0)
        check(wait(&status) == other);
    else
        _exit(0);
#elif RUN == 4
    char c = 'x';
    if (other == 0)
        return write(ends[1], &c, 1) != 1;
    if (other > 0 && read(ends[0], &c, 1) == 1)
        check(c == 'x');
#elif RUN == 5
    check(prepared == 1 && in_parent == (other != 0) && in_child == (other == 0));
#elif RUN == 6
    check(!(in_child == 1));
#else
    for (int i = 0; i < 8; i++)
        pthread_atfork(before, parent, child);
    fork();
    check(prepared == 10);
#endif
    return 0;
}
