// run: --check signed-integer-overflow => TRUE
// run: -DBUG --check signed-integer-overflow => FALSE(signed-integer-overflow)
// A time is at most the latest one to which Linux can be set, so sums with intervals and times in nanoseconds do not overflow.
#include <sys/time.h>
#include <time.h>

int main(void) {
    struct timespec at;
    struct timeval now;
    if (clock_gettime(CLOCK_REALTIME, &at) != 0 || gettimeofday(&now, NULL) != 0)
        return 1;
    at.tv_sec += 3600;
    clock_gettime(CLOCK_MONOTONIC, &at);
    long long nanoseconds = (at.tv_sec + 1) * 1000000000LL + at.tv_nsec;
    long long milliseconds = now.tv_sec * 1000LL + now.tv_usec / 1000;
#ifdef BUG
    int seconds = (int)(time(NULL) & 0x7fffffff);
    return seconds + 3600 < milliseconds; // wrong
#else
    return time(NULL) + 3600 < milliseconds && nanoseconds < milliseconds;
#endif
}
