// A child has its own processor time, number and process group. `daemon` goes on as a child.
// run: => TRUE
// run: -DTIME => UNKNOWN
// run: -DGROUP => UNKNOWN
// run: -DNUMBER => FALSE(unreach-call)
// run: -DSESSION => FALSE(unreach-call)
// run: -DFILES => FALSE(unreach-call)
// run: -DTWO => UNKNOWN
// run: -DHANDLER => UNKNOWN
#include "../verify.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

static int ran;
void child(void) { ran = 1; }

int main(void) {
#if defined(TIME)
    clock_t before = clock();
    if (before != -1 && fork() == 0) {
        clock_t now = clock();
        check(now == -1 || now >= before);
    }
#elif defined(GROUP)
    if (fork() == 0) {
        pid_t group = getpgrp();
        check(getpgrp() == group); // the parent may have moved the child
    }
#elif defined(NUMBER)
    pid_t self = getpid();
    if (daemon(1, 1) == 0)
        check(getpid() == self); // wrong
#elif defined(SESSION)
    pid_t session = getsid(0);
    if (daemon(1, 1) == 0)
        check(getsid(0) == session); // wrong
#elif defined(FILES)
    close(0);
    if (daemon(1, 0) == 0) {
        int file = open("file", O_RDONLY);
        check(file <= 0); // wrong
    }
#elif defined(HANDLER)
    pthread_atfork(NULL, NULL, child);
    if (daemon(1, 1) == 0)
        check(!ran); // the handler has run, which a harness cannot reproduce
#elif defined(TWO)
    pid_t first = fork(), second = first > 0 ? fork() : 0;
    if (second > 0)
        check(first != second); // a number is used again only after its process is gone
#else
    pid_t group = getpgrp(), child = fork();
    if (child == 0) {
        check(getpid() != group);
        check(setsid() == -1 || getsid(0) == getpid());
    }
    if (child != 0 && daemon(1, 1) == 0)
        check(getsid(0) == getpid());
#endif
    return 0;
}
