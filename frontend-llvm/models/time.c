// Defines: time clock gettimeofday clock_gettime clock_getres timespec_get times difftime
// Defines: gmtime localtime gmtime_r localtime_r mktime timelocal timegm tzset ctime asctime ctime_r asctime_r strftime
// Defines: wcsftime
// Defines: sleep usleep nanosleep sleep.void clock_settime settimeofday
#pragma once
#include "proviso.h"

// The environment determines the time of day, which may be set back. Times since the start of the program or the system
// never decrease.

struct proviso_timespec {
    long seconds, fraction;
};

struct proviso_tm {
    int second, minute, hour, day, month, year, weekday, yearday, daylight;
    long offset;
    const char *zone;
};

// The latest time to which Linux can be set, in seconds: in the year 2232. It counts nanoseconds in 63 bits and reserves thirty
// years for the time since its start, so programs can do so, too (TIME_SETTOD_SEC_MAX in its source).
static const long long proviso_latest = LLONG_MAX / 1000000000 - 30ll * 365 * 24 * 3600;

long time(long *result) {
    long now = __proviso_env_long();
    __proviso_assume((now >= 0) & (now <= proviso_latest));
    if (result)
        *result = now;
    return now;
}

// The processor time. -1 if it does not fit. In 32 bits the library wraps around.
long clock(void) {
    static long before;
    long now = __proviso_env_long();
    __proviso_assume((now >= -1) & ((now == -1) | (now >= before) | (sizeof(long) == 4) | proviso_has_forked));
    if (sizeof(long) == 4 && now < before)
        __proviso_overapproximated("the overflow of clock in 32 bits is not modelled exactly");
    if (now != -1 && now < before)
        __proviso_overapproximated(PROVISO_RESTARTED);
    before = now;
    return now;
}

static void proviso_now(struct proviso_timespec *result, long second) {
    result->seconds = __proviso_env_long();
    result->fraction = __proviso_env_long();
    __proviso_assume((result->seconds >= 0) & (result->seconds <= proviso_latest) & (result->fraction >= 0) & (result->fraction < second));
}

// The time-zone argument is obsolete.
int gettimeofday(struct proviso_timespec *result, void *zone) {
    if (result)
        proviso_now(result, 1000000);
    if (zone)
        __builtin_memset(zone, 0, 8);
    return 0;
}

// Clocks 0 to 11 are Linux's, except 10. Clocks with negative numbers belong to processes and devices.
enum { PROVISO_CLOCKS = 12 };

static int proviso_clock(int clock, struct proviso_timespec *result) {
    _Bool known = (clock >= 0) & (clock < 8), unknown = (clock >= PROVISO_CLOCKS) | (clock == 10);
    if (unknown || (!known && __proviso_env_bool())) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (result)
        proviso_now(result, 1000000000);
    return 0;
}

static _Bool proviso_is_earlier(struct proviso_timespec a, struct proviso_timespec b) {
    return (a.seconds < b.seconds) | ((a.seconds == b.seconds) & (a.fraction < b.fraction));
}

// Clocks that cannot be set: monotonic ones, and those of a process and its threads. For a clock with a negative number this is unknown.
int clock_gettime(int clock, struct proviso_timespec *result) {
    enum { MONOTONIC = 1, PROCESS = 2, THREAD = 3, RAW = 4, COARSE = 6, BOOT = 7, BOOT_ALARM = 9 };
    static struct proviso_timespec before[PROVISO_CLOCKS];
    static _Bool asked;
    int outcome = proviso_clock(clock, result);
    _Bool goes_on = clock == MONOTONIC || clock == PROCESS || clock == THREAD || clock == RAW || clock == COARSE ||
                    clock == BOOT || clock == BOOT_ALARM;
    if (outcome == 0 && result && goes_on) {
        _Bool goes_back = proviso_is_earlier(*result, before[clock]);
        __proviso_assume(!goes_back | (proviso_has_forked & (clock == PROCESS || clock == THREAD)));
        if (goes_back)
            __proviso_overapproximated(PROVISO_RESTARTED);
        before[clock] = *result;
    }
    if (outcome == 0 && clock < 0) {
        if (asked)
            __proviso_overapproximated("a clock of the kernel may go back");
        asked = 1;
    }
    return outcome;
}

// Less than a second, and the same for each call.
int clock_getres(int clock, struct proviso_timespec *result) {
    static long kept[PROVISO_CLOCKS];
    struct proviso_timespec resolution;
    int outcome = proviso_clock(clock, &resolution);
    if (outcome < 0)
        return -1;
    __proviso_assume((resolution.seconds == 0) & (resolution.fraction > 0));
    if (clock >= 0) {
        __proviso_assume((kept[clock] == 0) | (kept[clock] == resolution.fraction));
        kept[clock] = resolution.fraction;
    }
    if (result)
        *result = resolution;
    return 0;
}

int timespec_get(struct proviso_timespec *result, int base) {
    if (base != 1)
        return 0;
    proviso_now(result, 1000000000);
    return base;
}

// The times of the program and its children, and the time since some point, in ticks, which may exceed 32 bits.
long times(long *result) {
    static long before[5];
    static _Bool asked;
    long now[5];
    for (int i = 0; i < 5; i++) {
        now[i] = __proviso_env_long();
        _Bool goes_back = now[i] < before[i];
        __proviso_assume((sizeof(long) == 4) | (i == 4 && !asked) | !goes_back | (proviso_has_forked & (i < 4)));
        if (goes_back & (i < 4))
            __proviso_overapproximated(PROVISO_RESTARTED);
        before[i] = now[i];
    }
    if (sizeof(long) == 4 && asked)
        __proviso_overapproximated("times may go back in 32 bits");
    asked = 1;
    for (int i = 0; result && i < 4; i++)
        result[i] = now[i];
    return now[4];
}

double difftime(long later, long earlier) {
    IN_MODE
    if (ROUNDS_TO_NEAREST)
        return later >= earlier ? (double)((unsigned long)later - earlier) : -(double)((unsigned long)earlier - later);
    // The library's computation, including the sign of zero.
    return (long double)later - (long double)earlier;
}

// Calendar times. UTC is computed exactly.

static long long proviso_floor_divide(long long a, long long b) { return a / b - (a % b < 0); }

static void proviso_set_zone(struct proviso_tm *t) {
    t->daylight = 0;
    t->offset = 0;
    t->zone = "GMT";
}

// The days from 1 January 1970 to the first of a month. `year` is counted from 1900, `month` from 0. Both may have any value.
static long long proviso_days_to(long long year, long long month) {
    static const short before[12] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
    year += 1900 + proviso_floor_divide(month, 12);
    month -= 12 * proviso_floor_divide(month, 12);
    // The leap days of the years whose February is over.
    long long over = year - (month < 2);
    long long leaps =
        proviso_floor_divide(over, 4) - proviso_floor_divide(over, 100) + proviso_floor_divide(over, 400);
    return 365 * (year - 1970) + leaps - 477 + before[month];
}

// Returns whether the year fits. If not, stores nothing.
static _Bool proviso_utc(long long seconds, struct proviso_tm *t) {
    long long days = proviso_floor_divide(seconds, 86400);
    int rest = seconds - days * 86400;
    // Years from March to February, in cycles of 400 years.
    long long shifted = days + 719468, cycle = proviso_floor_divide(shifted, 146097);
    int day = shifted - cycle * 146097;
    int year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
    int of_year = day - (365 * year + year / 4 - year / 100);
    int month = (5 * of_year + 2) / 153;
    long long since_1900 = cycle * 400 + year + (month >= 10) - 1900;
    if (since_1900 != (int)since_1900) {
        SET_ERRNO(EOVERFLOW);
        return 0;
    }
    t->second = rest % 60;
    t->minute = rest / 60 % 60;
    t->hour = rest / 3600;
    t->day = of_year - (153 * month + 2) / 5 + 1;
    t->month = month < 10 ? month + 2 : month - 10;
    t->year = since_1900;
    t->weekday = (days % 7 + 11) % 7;
    t->yearday = days - proviso_days_to(since_1900, 0);
    proviso_set_zone(t);
    return 1;
}

static struct proviso_tm proviso_calendar_time;

static struct proviso_tm *proviso_gmtime(const long *t, struct proviso_tm *result) {
    return proviso_utc(*t, result) ? result : NULL;
}

struct proviso_tm *gmtime(const long *t) { return proviso_gmtime(t, &proviso_calendar_time); }

struct proviso_tm *gmtime_r(const long *t, struct proviso_tm *result) { return proviso_gmtime(t, result); }

// Fields that are out of range are normalised.
long timegm(struct proviso_tm *t) {
    long long days = proviso_days_to(t->year, t->month) + t->day - 1;
    long long seconds = days * 86400 + t->hour * 3600ll + t->minute * 60ll + t->second;
    struct proviso_tm result;
    if (!proviso_utc(seconds, &result)) {
        t->daylight = 0;
        return -1;
    }
    if (seconds != (long)seconds) {
        SET_ERRNO(EOVERFLOW);
        return -1;
    }
    *t = result;
    return seconds;
}

// The time zone is unknown: any time in C's ranges, instead of the requested one.
static void proviso_calendar(struct proviso_tm *t) {
    static char zone[8];
    __proviso_overapproximated("local calendar time is not modelled exactly");
    t->second = proviso_env_between(0, 60);
    t->minute = proviso_env_between(0, 59);
    t->hour = proviso_env_between(0, 23);
    t->day = proviso_env_between(1, 31);
    t->month = proviso_env_between(0, 11);
    t->year = __proviso_env_int();
    t->weekday = proviso_env_between(0, 6);
    t->yearday = proviso_env_between(0, 365);
    t->daylight = proviso_env_between(-1, 1);
    t->offset = proviso_env_between(-93600, 93600);
    __proviso_env_memory(zone, sizeof zone - 1);
    t->zone = zone;
}

// Null if the year does not fit. On x86-64 that requires an enormous `t`.
static struct proviso_tm *proviso_localtime(const long *t, struct proviso_tm *result) {
    proviso_put_out(t, sizeof *t);
    if (sizeof(long) > 4 && __proviso_env_bool()) {
        __proviso_overapproximated("local calendar time is not modelled exactly");
        SET_ERRNO(EOVERFLOW);
        return NULL;
    }
    proviso_calendar(result);
    return result;
}

struct proviso_tm *localtime(const long *t) { return proviso_localtime(t, &proviso_calendar_time); }

struct proviso_tm *localtime_r(const long *t, struct proviso_tm *result) { return proviso_localtime(t, result); }

static long proviso_mktime(struct proviso_tm *t) {
    proviso_read(t, sizeof *t);
    // The day of the week and of the year, and the zone, are only results.
    proviso_put_out(&t->second, 6 * sizeof t->second);
    proviso_put_out(&t->daylight, sizeof t->daylight);
    if (__proviso_env_bool()) {
        __proviso_overapproximated("local calendar time is not modelled exactly");
        SET_ERRNO(EOVERFLOW);
        return -1;
    }
    proviso_calendar(t);
    long result = __proviso_env_long();
    // The search for daylight saving time may fail near the ends of the range.
    const long late = sizeof(long) == 8 ? 67000000000000000ll : 1500000000;
    SET_ERRNO_IF((result > late || result < -late) && __proviso_env_bool(), EOVERFLOW);
    return result;
}

long mktime(struct proviso_tm *t) { return proviso_mktime(t); }

long timelocal(struct proviso_tm *t) { return proviso_mktime(t); }

void tzset(void) {}

// Calendar times as text.

// Appends text up to `room`. Returns the new length.
static size_t proviso_append(char *buffer, size_t length, size_t room, const char *text) {
    for (; *text; text++, length++) {
        if (length < room)
            buffer[length] = *text;
    }
    return length;
}

// A number with at least `digits` digits, in a field of at least `width` bytes.
static size_t proviso_append_number(char *buffer, size_t length, size_t room, int number, int digits, int width) {
    char reversed[16];
    int n = 0;
    unsigned magnitude = number < 0 ? -(unsigned)number : number;
    for (; magnitude > 0 || n < digits; magnitude /= 10)
        reversed[n++] = '0' + magnitude % 10;
    if (number < 0)
        reversed[n++] = '-';
    for (; width > n; width--)
        length = proviso_append(buffer, length, room, " ");
    for (; n > 0; length++) {
        n--;
        if (length < room)
            buffer[length] = reversed[n];
    }
    return length;
}

// "Thu Jan 1 00:00:00 1970\n". Null if `size` bytes do not suffice. Then the text is truncated.
static char *proviso_asctime(const struct proviso_tm *t, char *result, size_t size) {
    static const char days[7][4] = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    if (!t) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    if (t->year > INT_MAX - 1900) {
        SET_ERRNO(EOVERFLOW);
        return NULL;
    }
    size_t room = size - 1;
    size_t n = proviso_append(result, 0, room, (unsigned)t->weekday < 7 ? days[t->weekday] : "???");
    n = proviso_append(result, n, room, " ");
    n = proviso_append(result, n, room, (unsigned)t->month < 12 ? months[t->month] : "???");
    n = proviso_append_number(result, n, room, t->day, 1, 3);
    n = proviso_append(result, n, room, " ");
    n = proviso_append_number(result, n, room, t->hour, 2, 0);
    n = proviso_append(result, n, room, ":");
    n = proviso_append_number(result, n, room, t->minute, 2, 0);
    n = proviso_append(result, n, room, ":");
    n = proviso_append_number(result, n, room, t->second, 2, 0);
    n = proviso_append(result, n, room, " ");
    n = proviso_append_number(result, n, room, 1900 + t->year, 1, 0);
    n = proviso_append(result, n, room, "\n");
    result[n < room ? n : room] = 0;
    if (n <= room)
        return result;
    SET_ERRNO(EOVERFLOW);
    return NULL;
}

static char proviso_time_buffer[128];

char *asctime(const struct proviso_tm *t) {
    return proviso_asctime(t, proviso_time_buffer, sizeof proviso_time_buffer);
}

char *asctime_r(const struct proviso_tm *t, char *result) { return proviso_asctime(t, result, 26); }

char *ctime(const long *t) {
    return proviso_asctime(proviso_localtime(t, &proviso_calendar_time), proviso_time_buffer,
                           sizeof proviso_time_buffer);
}

char *ctime_r(const long *t, char *result) {
    struct proviso_tm local;
    return proviso_asctime(proviso_localtime(t, &local), result, 26);
}

// If the text does not fit, the written bytes are undefined. Each character has the size of `character`.
static size_t proviso_strftime(char *result, size_t size, const struct proviso_tm *t, size_t character) {
    proviso_read(t, sizeof *t);
    __proviso_overapproximated("strftime");
    if (__proviso_env_bool()) {
        __proviso_env_memory(result, size * character);
        SET_ERRNO_IF(__proviso_env_bool(), proviso_env_between(ERANGE, EOVERFLOW));
        return 0;
    }
    size_t length = __proviso_env_size();
    __proviso_assume(length < size);
    __proviso_env_memory(result, length * character);
    __builtin_memset(result + length * character, 0, character);
    return length;
}

size_t strftime(char *result, size_t size, const char *format, const struct proviso_tm *t) {
    proviso_strlen(format);
    return proviso_strftime(result, size, t, 1);
}

size_t wcsftime(wchar_t *result, size_t size, const wchar_t *format, const struct proviso_tm *t) {
    for (; *format; format++)
        ;
    return proviso_strftime((char *)result, size, t, sizeof(wchar_t));
}

// Waiting.

unsigned sleep(unsigned seconds) {
    unsigned left = __proviso_env_int();
    __proviso_assume(left <= seconds);
    return left;
}

void proviso_ignored_sleep(unsigned seconds) __asm__("sleep.void");
void proviso_ignored_sleep(unsigned seconds) {}

int usleep(unsigned microseconds) {
    if (!__proviso_env_bool())
        return 0;
    SET_ERRNO(EINTR);
    return -1;
}

int nanosleep(const struct proviso_timespec *time, struct proviso_timespec *left) {
    if (time->seconds < 0 || time->fraction < 0 || time->fraction >= 1000000000) {
        SET_ERRNO(EINVAL);
        return -1;
    }
    if (!__proviso_env_bool())
        return 0;
    SET_ERRNO(EINTR);
    // `left` may alias `time`.
    const struct proviso_timespec asked = *time;
    if (left) {
        proviso_now(left, 1000000000);
        __proviso_assume((left->seconds < asked.seconds) |
                         ((left->seconds == asked.seconds) & (left->fraction <= asked.fraction)));
    }
    return -1;
}

// Setting the time, which may fail.
static int proviso_set_clock(const void *time, size_t size) {
    if (time)
        proviso_put_out(time, size);
    int result = proviso_env_between(-1, 0);
    SET_ERRNO_IF(result < 0, proviso_env_error());
    return result;
}

// Clocks with negative numbers are devices.
int clock_settime(int clock, const struct proviso_timespec *time) {
    int result = proviso_set_clock(time, sizeof *time);
    _Bool valid = (clock <= 0) & (time->seconds >= 0) & (time->fraction >= 0) & (time->fraction < 1000000000);
    __proviso_assume((result < 0) | valid);
    return result;
}

int settimeofday(const void *time, const void *zone) {
    if (zone)
        proviso_put_out(zone, 2 * sizeof(int));
    return proviso_set_clock(time, 2 * sizeof(long));
}
