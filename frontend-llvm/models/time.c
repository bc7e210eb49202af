// Defines: time clock gettimeofday clock_gettime clock_getres timespec_get times difftime
// Defines: gmtime localtime gmtime_r localtime_r mktime timegm ctime asctime ctime_r asctime_r strftime
// Defines: sleep usleep nanosleep
#pragma once
#include "proviso.h"

// Time is what the environment says it is, and need not pass.

struct proviso_timespec {
    long seconds, fraction;
};

struct proviso_tm {
    int second, minute, hour, day, month, year, weekday, yearday, daylight;
    long offset;
    const char *zone;
};

long time(long *result) {
    long now = __proviso_env_long();
    __proviso_assume(now >= 0);
    if (result)
        *result = now;
    return now;
}

long clock(void) {
    long now = __proviso_env_long();
    __proviso_assume(now >= -1);
    return now;
}

static void proviso_now(struct proviso_timespec *result, long second) {
    result->seconds = __proviso_env_long();
    result->fraction = __proviso_env_long();
    __proviso_assume((result->seconds >= 0) & (result->fraction >= 0) & (result->fraction < second));
}

int gettimeofday(struct proviso_timespec *result, void *zone) {
    if (result)
        proviso_now(result, 1000000);
    if (zone)
        __proviso_env_memory(zone, 8);
    return 0;
}

static int proviso_clock(struct proviso_timespec *result) {
    if (__proviso_env_bool()) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (result)
        proviso_now(result, 1000000000);
    return 0;
}

int clock_gettime(int clock, struct proviso_timespec *result) { return proviso_clock(result); }

int clock_getres(int clock, struct proviso_timespec *result) { return proviso_clock(result); }

int timespec_get(struct proviso_timespec *result, int base) {
    proviso_now(result, 1000000000);
    return base == 1 ? 1 : 0;
}

long times(long *result) {
    if (result)
        __proviso_env_memory(result, 4 * sizeof(long));
    return __proviso_env_long();
}

double difftime(long later, long earlier) {
    IN_MODE
    if (ROUNDS_TO_NEAREST)
        return later >= earlier ? (double)((unsigned long)later - earlier) : -(double)((unsigned long)earlier - later);
    // As the library computes it, down to the sign of zero.
    return (long double)later - (long double)earlier;
}

// Calendar times: some time in the ranges that C gives, not the one asked for.

static void proviso_calendar(struct proviso_tm *t) {
    __proviso_overapproximated("calendar time is not modelled exactly");
    t->second = proviso_env_between(0, 60);
    t->minute = proviso_env_between(0, 59);
    t->hour = proviso_env_between(0, 23);
    t->day = proviso_env_between(1, 31);
    t->month = proviso_env_between(0, 11);
    t->year = __proviso_env_int();
    t->weekday = proviso_env_between(0, 6);
    t->yearday = proviso_env_between(0, 365);
    t->daylight = proviso_env_between(-1, 1);
    t->offset = proviso_env_between(-86400, 86400);
    t->zone = "UTC";
}

static struct proviso_tm proviso_calendar_time;

// A year that does not fit gives a null pointer; on x86-64 that wants an enormous `t`.
static struct proviso_tm *proviso_to_calendar(const long *t, struct proviso_tm *result) {
    long seconds = *t;
    (void)seconds;
    if (sizeof(long) > 4 && __proviso_env_bool()) {
        __proviso_overapproximated("calendar time is not modelled exactly");
        return NULL;
    }
    proviso_calendar(result);
    return result;
}

struct proviso_tm *gmtime(const long *t) { return proviso_to_calendar(t, &proviso_calendar_time); }

struct proviso_tm *localtime(const long *t) { return proviso_to_calendar(t, &proviso_calendar_time); }

struct proviso_tm *gmtime_r(const long *t, struct proviso_tm *result) { return proviso_to_calendar(t, result); }

struct proviso_tm *localtime_r(const long *t, struct proviso_tm *result) { return proviso_to_calendar(t, result); }

static long proviso_from_calendar(struct proviso_tm *t) {
    proviso_calendar(t);
    return __proviso_env_long();
}

long mktime(struct proviso_tm *t) { return proviso_from_calendar(t); }

long timegm(struct proviso_tm *t) { return proviso_from_calendar(t); }

// "Thu Jan  1 00:00:00 1970\n", where the year may have more digits.
static char *proviso_time_text(char *result) {
    __proviso_overapproximated("calendar time as text is not modelled exactly");
    __proviso_env_memory(result, 25);
    result[24] = '\n';
    result[25] = 0;
    for (int i = 0; i < 24; i++)
        __proviso_assume(result[i] != 0);
    return result;
}

static char proviso_time_buffer[26];

char *ctime(const long *t) {
    proviso_read(t, sizeof *t);
    return proviso_time_text(proviso_time_buffer);
}

char *asctime(const struct proviso_tm *t) {
    proviso_read(t, sizeof *t);
    return proviso_time_text(proviso_time_buffer);
}

char *ctime_r(const long *t, char *result) {
    proviso_read(t, sizeof *t);
    return proviso_time_text(result);
}

char *asctime_r(const struct proviso_tm *t, char *result) {
    proviso_read(t, sizeof *t);
    return proviso_time_text(result);
}

size_t strftime(char *result, size_t size, const char *format, const struct proviso_tm *t) {
    proviso_strlen(format);
    proviso_read(t, sizeof *t);
    __proviso_overapproximated("strftime");
    size_t length = __proviso_env_size();
    __proviso_assume((length < size) | (length == 0));
    if (size > 0) {
        __proviso_env_memory(result, length);
        result[length] = 0;
    }
    return length;
}

// Waiting.

unsigned sleep(unsigned seconds) {
    unsigned left = __proviso_env_int();
    __proviso_assume(left <= seconds);
    return left;
}

int usleep(unsigned microseconds) { return proviso_env_between(-1, 0); }

int nanosleep(const struct proviso_timespec *time, struct proviso_timespec *left) {
    proviso_read(time, sizeof *time);
    if (!__proviso_env_bool())
        return 0;
    SET_ERRNO(EINTR);
    if (left)
        proviso_now(left, 1000000000);
    return -1;
}
