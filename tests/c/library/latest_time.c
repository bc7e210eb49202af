// run: --check signed-integer-overflow => TRUE
// run: -DBUG --check signed-integer-overflow => FALSE(signed-integer-overflow)
// A time of day is at most the greatest that Linux has, so sums with intervals do not overflow.
#include <sys/time.h>
#include <time.h>

int main(void) {
    struct timespec at;
    struct timeval now;
    if (clock_gettime(CLOCK_REALTIME, &at) != 0 || gettimeofday(&now, NULL) != 0)
        return 1;
    at.tv_sec += 3600;
    long long milliseconds = now.tv_sec * 1000LL + now.tv_usec / 1000;
#ifdef BUG
    int seconds = (int)(time(NULL) & 0x7fffffff);
    return seconds + 3600 < milliseconds; // wrong
#else
    return time(NULL) + 3600 < milliseconds;
#endif
}
