// Defines: sched_yield sched_get_priority_max sched_get_priority_min
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
