// Defines: sched_yield sched_get_priority_max sched_get_priority_min sched_getaffinity sched_setaffinity __sched_cpucount
#pragma once
#include "proviso.h"

// Scheduling in a program of one thread.

int sched_yield(void) { return 0; }

// Other, first in first out, round robin, batch, idle, deadline.
static int proviso_priority(int policy, int of_real_time) {
    if (policy == 1 || policy == 2)
        return of_real_time;
    if (policy == 0 || policy == 3 || policy == 5 || policy == 6)
        return 0;
    if (policy > 6)
        __proviso_unmodelled("this scheduling policy is not modelled");
    SET_ERRNO(EINVAL);
    return -1;
}

int sched_get_priority_max(int policy) { return proviso_priority(policy, 99); }
int sched_get_priority_min(int policy) { return proviso_priority(policy, 1); }

// Sets of processors. Other processes may change them.

int sched_getaffinity(int process, size_t size, unsigned char *set) {
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    if (result < 0)
        return -1;
    __proviso_env_memory(set, size);
    // The program itself runs on some processor.
    size_t some = __proviso_env_size();
    __proviso_assume(some < size);
    __proviso_assume((set[some] != 0) | (process != 0));
    return 0;
}

int sched_setaffinity(int process, size_t size, const void *set) {
    proviso_put_out(set, size);
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

int __sched_cpucount(size_t size, const unsigned long *set) {
    int count = 0;
    for (size_t i = 0; i < size / sizeof *set; i++)
        count += __builtin_popcountl(set[i]);
    return count;
}
