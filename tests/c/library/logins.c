// run: => TRUE
// run: -DWRONG=found->ut_pid>0 => FALSE(unreach-call)
// run: -DFIRST=8 => FALSE(unreach-call)
// run: --property valid-deref => TRUE
// Users that are logged in, the groups of a user, and the processors for a program.
#define _GNU_SOURCE
#include <grp.h>
#include <sched.h>
#include <sys/types.h>
#include <utmpx.h>
#include "../verify.h"

#ifndef WRONG
#define WRONG 1
#endif
#ifndef FIRST
#define FIRST 7
#endif

int main(void) {
    struct utmpx wanted = {.ut_type = BOOT_TIME}, *found = getutxid(&wanted);
    if (found)
        check(found->ut_type == BOOT_TIME && WRONG); // wrong
    gid_t groups[4];
    int count = 4, all = getgrouplist("root", 7, groups, &count);
    check(all == -1 ? count > 4 : all == count && groups[0] == FIRST); // wrong
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        check(CPU_COUNT(&set) >= 0);
    return 0;
}
