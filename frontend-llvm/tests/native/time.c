// time.h.
#include "harness.h"
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>
#include <wchar.h>

DRIVER(time) {
    asks_environment();
    time_t now = 7;
    see(LIB(time)(random_below(2) ? &now : NULL));
    see(now);
}
DRIVER(clock) {
    asks_environment();
    see(LIB(clock)());
}
DRIVER(gettimeofday) {
    asks_environment();
    struct timeval now = {7, 7};
    struct timezone zone = {7, 7};
    see(LIB(gettimeofday)(&now, random_below(2) ? &zone : NULL));
    see(now.tv_sec);
    see(now.tv_usec);
    see_bytes(&zone, sizeof zone);
}
#define CLOCK(name)                                                                                                  \
    DRIVER(name) {                                                                                                   \
        asks_environment();                                                                                          \
        struct timespec now = {7, 7};                                                                                \
        see(LIB(name)(ONE_OF(0, 1, 2, 3, 77, -77), random_below(4) ? &now : NULL));                                  \
        see(now.tv_sec);                                                                                             \
        see(now.tv_nsec);                                                                                            \
    }
CLOCK(clock_getres)
DRIVER(clock_gettime) {
    asks_environment();
    struct timespec now = {7, 7};
    see(LIB(clock_gettime)(ONE_OF(0, 1, 2, 3, 77, -77), &now));
    see(now.tv_sec);
    see(now.tv_nsec);
}
DRIVER(timespec_get) {
    asks_environment();
    struct timespec now = {7, 7};
    see(LIB(timespec_get)(&now, ONE_OF(TIME_UTC, TIME_UTC, 0, 5)));
    see(now.tv_sec);
    see(now.tv_nsec);
}
DRIVER(times) {
    asks_environment();
    struct tms used = {7, 7, 7, 7};
    see(LIB(times)(&used));
    see(used.tms_utime), see(used.tms_stime), see(used.tms_cutime), see(used.tms_cstime);
}
DRIVER(difftime) {
    time_t a = random_integer(), b = random_integer();
    see_real(LIB(difftime)(a, b));
}

static time_t some_time(void) {
    time_t recent = (time_t)(random_bits() % 4000000000u) - (random_below(4) ? 0 : 2000000000);
    return random_below(4) ? recent : (time_t)random_integer();
}
static void see_calendar(struct tm *t) {
    see(t != NULL);
    if (t) {
        see(t->tm_sec), see(t->tm_min), see(t->tm_hour), see(t->tm_mday), see(t->tm_mon), see(t->tm_year);
        see(t->tm_wday), see(t->tm_yday), see(t->tm_isdst), see(t->tm_gmtoff), see_text(t->tm_zone);
    }
}
// Suggests the choices of the model, in its order.
static void suggest_calendar(struct tm *t) {
    suggest_nothing();
    if (t) {
        suggest(t->tm_sec), suggest(t->tm_min), suggest(t->tm_hour), suggest(t->tm_mday), suggest(t->tm_mon);
        suggest(t->tm_year), suggest(t->tm_wday), suggest(t->tm_yday), suggest(t->tm_isdst), suggest(t->tm_gmtoff);
        char zone[7] = "";
        strncpy(zone, t->tm_zone ? t->tm_zone : "", 6);
        suggest_bytes(zone, 7);
    }
}
#define CALENDAR(name, library)                                                                                      \
    DRIVER(name) {                                                                                                   \
        may_approximate();                                                                                           \
        time_t t = some_time();                                                                                      \
        say(#name "(%lld)", (long long)t);                                                                           \
        NATIVELY suggest_calendar(library(&t));                                                                      \
        see_calendar(LIB(name)(&t));                                                                                 \
    }
DRIVER(gmtime) {
    time_t t = some_time();
    see_calendar(LIB(gmtime)(&t));
}
DRIVER(gmtime_r) {
    time_t t = some_time();
    struct tm result = {0};
    see_calendar(LIB(gmtime_r)(&t, &result));
    see(result.tm_mday);
}
CALENDAR(localtime, localtime)
#define CALENDAR_R(name, library)                                                                                    \
    DRIVER(name) {                                                                                                   \
        may_approximate();                                                                                           \
        time_t t = some_time();                                                                                      \
        struct tm result = {0};                                                                                      \
        say(#name "(%lld)", (long long)t);                                                                           \
        NATIVELY suggest_calendar(library(&t));                                                                      \
        see_calendar(LIB(name)(&t, &result));                                                                        \
    }
CALENDAR_R(localtime_r, localtime)
static struct tm some_calendar(void) {
    struct tm t = {.tm_sec = random_below(70), .tm_min = random_below(70), .tm_hour = random_below(30),
                   .tm_mday = random_below(40), .tm_mon = random_below(14), .tm_year = random_below(300)};
    if (random_below(4) == 0)
        t.tm_year = random_integer();
    if (random_below(4) == 0)
        t.tm_mon = random_integer();
    if (random_below(4) == 0)
        t.tm_mday = random_integer();
    t.tm_isdst = (int)random_below(3) - 1;
    return t;
}
#define FROM_CALENDAR(name)                                                                                          \
    DRIVER(name) {                                                                                                   \
        may_approximate();                                                                                           \
        struct tm t = some_calendar(), natively = t;                                                                 \
        NATIVELY {                                                                                                   \
            time_t result = name(&natively);                                                                         \
            suggest_calendar(&natively);                                                                             \
            suggest(result);                                                                                         \
        }                                                                                                            \
        time_t result = LIB(name)(&t);                                                                               \
        see_calendar(&t);                                                                                            \
        see(result);                                                                                                 \
    }
FROM_CALENDAR(mktime)
DRIVER(timegm) {
    struct tm t = some_calendar();
    see(LIB(timegm)(&t));
    see_calendar(&t);
}
DRIVER(asctime) {
    struct tm t = {.tm_sec = random_below(60), .tm_min = random_below(60), .tm_hour = random_below(24),
                   .tm_mday = 1 + random_below(31), .tm_mon = random_below(12), .tm_year = random_below(8000),
                   .tm_wday = random_below(7)};
    if (random_below(8) == 0)
        t.tm_wday = random_integer();
    if (random_below(8) == 0)
        t.tm_mon = random_integer();
    if (random_below(8) == 0)
        t.tm_year = random_integer();
    see_text(LIB(asctime)(&t));
    see_pointer(LIB(asctime_r)(&t, room(26)));
}
DRIVER(ctime) {
    may_approximate();
    time_t t = some_time();
    NATIVELY suggest_calendar(localtime(&t));
    see_text(LIB(ctime)(&t));
    NATIVELY suggest_calendar(localtime(&t));
    see_pointer(LIB(ctime_r)(&t, room(26)));
}
DRIVER(strftime) {
    may_approximate();
    struct tm t = {.tm_mday = 3, .tm_year = random_below(200)};
    char *buffer = room(40);
    size_t n = LIB(strftime)(buffer, random_below(40), ONE_OF("%Y-%m-%d", "%H:%M:%S", "", "%B %A %c"), &t);
    see(n);
}
DRIVER(wcsftime) {
    may_approximate();
    struct tm t = {.tm_mday = 3, .tm_year = random_below(200)};
    wchar_t *buffer = (wchar_t *)room(40 * sizeof(wchar_t));
    see(LIB(wcsftime)(buffer, random_below(40), ONE_OF(L"%Y-%m-%d", L"%H:%M:%S", L"", L"%B %A %c"), &t));
}
DRIVER(sleep) {
    asks_environment();
    struct timespec none = {0, ONE_OF(0, 1, -1, 1000000000)}, left = {7, 7};
    see(LIB(sleep)(0));
    see(LIB(usleep)(0));
    see(LIB(nanosleep)(&none, random_below(2) ? &left : NULL));
    see(left.tv_sec);
    see(left.tv_nsec);
}
