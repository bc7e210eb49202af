// run: => TRUE
// run: -DWRONG=buffer[0]!='#' => FALSE(unreach-call)
// run: -DWRONG=ready==0 => TRUE
// run: -DTIME=1 -DWRONG=ready==0 => FALSE(unreach-call)
// run: -DWRONG=left.tv_nsec==3 => FALSE(unreach-call)
// native: unseen
// State after calls: after a query for an unknown user, and after waiting for some time.
#include "../verify.h"
#include <poll.h>
#include <pwd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>

#ifndef WRONG
#define WRONG 0
#endif
#ifndef TIME
#define TIME -1
#endif

int main(void) {
    struct passwd user, *found;
    char buffer[4] = "###";
    if (getpwuid_r(0, &user, buffer, sizeof buffer, &found) == 0)
        check(!found || found == &user);
    struct pollfd file = {0, POLLIN, 0};
    int ready = poll(&file, 1, TIME);
    struct timespec left = {0, 5};
    nanosleep(&left, &left);
    check(left.tv_sec == 0 && left.tv_nsec <= 5);
    umask(022);
    check(umask(0) == 022);
    check(mmap(NULL, 1, PROT_READ | PROT_WRITE, MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
    check(!(WRONG)); // wrong
    return 0;
}
