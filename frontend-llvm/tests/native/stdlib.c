#define _GNU_SOURCE
#include "harness.h"
#include <inttypes.h>
#include <search.h>

// Text that is nearly a number.
static void random_number(char *s) {
    static const char *const parts[] = {" ",   "\t",  "-", "+",  "0x", "0X", "0",   "9223372036854775807", "7",
                                        "8",   "f",   "Z", "12", "1e", "e5", ".",   "18446744073709551616", "2147483648",
                                        "0b1", "inf", "nan", "nan(a1)", "infinity", "p3", "1.5", "e-7", "x", "3",
                                        "-9223372036854775808", "00", "INF", "e+", "p-2", "16777217"};
    s[0] = 0;
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(s, parts[random_below(sizeof parts / sizeof *parts)]);
}

static void integers(void) {
    char s[128];
    random_number(s);
    int base = random_below(3) ? (int)random_below(38) - 1 : random_below(2) ? 0 : 10;
#define STRTO(type, function)                                                                                        \
    {                                                                                                                \
        extern type model_##function(const char *, char **, int);                                                    \
        START;                                                                                                       \
        char *real_end = NULL, *model_end = NULL;                                                                    \
        type real = function(s, &real_end, base), model = model_##function(s, &model_end, base);                     \
        EXPECT(real == model, #function "(\"%s\", %d): %lld, model %lld", s, base, (long long)real,                  \
               (long long)model);                                                                                    \
        EXPECT(real_end == model_end, #function "(\"%s\", %d): end %ld, model %ld", s, base, real_end - s,            \
               model_end - s);                                                                                       \
        EXPECT(errno == *model___errno_location(), #function "(\"%s\", %d): errno", s, base);                        \
    }
    STRTO(long, strtol)
    STRTO(unsigned long, strtoul)
    STRTO(long long, strtoll)
    STRTO(unsigned long long, strtoull)
    STRTO(intmax_t, strtoimax)
    STRTO(uintmax_t, strtoumax)
    extern int model_atoi(const char *);
    extern long model_atol(const char *);
    EXPECT(atoi(s) == model_atoi(s), "atoi(\"%s\")", s);
    EXPECT(atol(s) == model_atol(s), "atol(\"%s\")", s);
}

static void reals(void) {
    char s[128];
    if (random_below(2))
        random_number(s);
    else
        sprintf(s, "%.*g", (int)random_below(18), (double)(int64_t)random_bits() / (1ull << random_below(64)));
#define STRTOR(type, function)                                                                                       \
    {                                                                                                                \
        extern type model_##function(const char *, char **);                                                         \
        START;                                                                                                       \
        char *real_end, *model_end;                                                                                  \
        type real = function(s, &real_end);                                                                          \
        /* Where the model takes any value, facts are checked on the true one. */                                    \
        script = real;                                                                                               \
        type model = model_##function(s, &model_end);                                                                \
        EXPECT(real == model || (real != real && model != model), #function "(\"%s\"): %La, model %La", s,           \
               (long double)real, (long double)model);                                                               \
        EXPECT(signbit(real) == signbit(model), #function "(\"%s\"): sign", s);                                      \
        EXPECT(real_end == model_end, #function "(\"%s\"): end %ld, model %ld", s, real_end - s, model_end - s);     \
        exact += !approximated;                                                                                      \
    }
    static long exact;
    STRTOR(double, strtod)
    STRTOR(float, strtof)
    STRTOR(long double, strtold)
    static long calls;
    if (++calls % 10000 == 0)
        EXPECT(exact > calls * 2, "most numbers are read exactly: %ld of %ld", exact, 3 * calls);
}

static void arithmetic(void) {
    extern int model_abs(int);
    extern long model_labs(long);
    extern div_t model_div(int, int);
    extern ldiv_t model_ldiv(long, long);
    extern lldiv_t model_lldiv(long long, long long);
    int a = random_bits() >> random_below(32), b = (int)random_below(200) - 100;
    b += b == 0;
    EXPECT(abs(a) == model_abs(a), "abs(%d)", a);
    EXPECT(labs(a) == model_labs(a), "labs(%d)", a);
    div_t d = div(a, b), e = model_div(a, b);
    EXPECT(d.quot == e.quot && d.rem == e.rem, "div(%d, %d)", a, b);
    long c = random_bits();
    ldiv_t l = ldiv(c, b), m = model_ldiv(c, b);
    EXPECT(l.quot == m.quot && l.rem == m.rem, "ldiv(%ld, %d)", c, b);
    lldiv_t p = lldiv(c, b), q = model_lldiv(c, b);
    EXPECT(p.quot == q.quot && p.rem == q.rem, "lldiv(%ld, %d)", c, b);
}

struct element {
    char key, place, padding;
};

static int compare(const void *a, const void *b) {
    return ((const struct element *)a)->key - ((const struct element *)b)->key;
}

static void sorting(void) {
    extern void model_qsort(void *, size_t, size_t, int (*)(const void *, const void *));
    extern void *model_bsearch(const void *, const void *, size_t, size_t, int (*)(const void *, const void *));
    extern void *model_lfind(const void *, const void *, size_t *, size_t, int (*)(const void *, const void *));
    struct element real[40], model[40];
    size_t n = random_below(41);
    for (size_t i = 0; i < n; i++)
        real[i] = (struct element){random_below(20), i, 0};
    memcpy(model, real, sizeof real);
    struct element key = {random_below(20)};
    void *found = lfind(&key, real, &n, sizeof key, compare);
    void *model_found = model_lfind(&key, real, &n, sizeof key, compare);
    EXPECT(found == model_found, "lfind");
    qsort(real, n, sizeof *real, compare);
    model_qsort(model, n, sizeof *model, compare);
    for (size_t i = 1; i < n; i++) {
        int order = compare(&model[i - 1], &model[i]);
        EXPECT(order < 0 || (order == 0 && model[i - 1].place < model[i].place), "qsort, stable");
    }
    for (size_t i = 0; i < n; i++)
        EXPECT(real[i].key == model[i].key, "qsort");
    EXPECT(bsearch(&key, real, n, sizeof key, compare) == model_bsearch(&key, real, n, sizeof key, compare), "bsearch");
}

static void memory(void) {
    extern void *model_realloc(void *, size_t), *model_reallocarray(void *, size_t, size_t);
    extern int model_posix_memalign(void **, size_t, size_t);
    size_t n = 1 + random_below(100), m = 1 + random_below(100);
    unsigned char *p = model_realloc(NULL, n);
    for (size_t i = 0; i < n; i++)
        p[i] = i;
    p = model_reallocarray(p, m, 1);
    for (size_t i = 0; i < n && i < m; i++)
        EXPECT(p[i] == i, "realloc keeps the content");
    EXPECT(model_realloc(p, 0) == NULL, "realloc to nothing");
    EXPECT(model_reallocarray(NULL, SIZE_MAX / 2, 3) == NULL, "reallocarray of too much");
    void *q;
    EXPECT(model_posix_memalign(&q, 3, n) == EINVAL, "posix_memalign");
    EXPECT(model_posix_memalign(&q, 64, 64) == 0 && (uintptr_t)q % 64 == 0, "posix_memalign");
    free(q);
}

static int handlers;
static void first(void) { EXPECT(++handlers == 3, "the first handler runs last"); }
static void later(void) { EXPECT(++handlers == 2, "a handler may register one"); }
static void last(void) {
    extern int model_atexit(void (*)(void));
    EXPECT(++handlers == 1, "the last handler runs first");
    model_atexit(later);
}

static void endings(void) {
    extern int model_atexit(void (*)(void));
    extern void model___proviso_at_exit(void);
    model_atexit(first);
    model_atexit(last);
    model___proviso_at_exit();
    EXPECT(handlers == 3, "all handlers run");
}

void test(void) {
    endings();
    for (int i = 0; i < 50000; i++) {
        integers();
        reals();
        arithmetic();
        if (i % 10 == 0) {
            sorting();
            memory();
        }
    }
}
