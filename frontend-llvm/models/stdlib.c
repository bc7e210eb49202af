// Defines: abs labs llabs imaxabs div ldiv lldiv imaxdiv
// Defines: atoi atol atoll strtol strtoul strtoll strtoull strtoq strtouq strtoimax strtoumax __strtol_internal
// Defines: __isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __isoc23_strtoimax __isoc23_strtoumax
// Defines: atof strtod strtof strtold
// Defines: qsort bsearch lfind lsearch
// Defines: rand srand rand_r random srandom drand48 lrand48 mrand48 srand48 arc4random arc4random_uniform
// Defines: realloc reallocarray posix_memalign malloc_usable_size pvalloc
// Defines: getenv secure_getenv setenv unsetenv putenv system
// Defines: atexit on_exit __cxa_atexit at_quick_exit __proviso_at_exit
#pragma once
#include "number.c"
#include "proviso.h"

// Arithmetic. As two's complement negation, INT_MIN stays what it is.

int abs(int x) { return x < 0 ? -(unsigned)x : x; }

long labs(long x) { return x < 0 ? -(unsigned long)x : x; }

long long llabs(long long x) { return x < 0 ? -(unsigned long long)x : x; }

intmax_t imaxabs(intmax_t x) { return x < 0 ? -(uintmax_t)x : x; }

struct proviso_div {
    int quot, rem;
};
struct proviso_ldiv {
    long quot, rem;
};
struct proviso_lldiv {
    long long quot, rem;
};

struct proviso_div div(int a, int b) { return (struct proviso_div){a / b, a % b}; }

struct proviso_ldiv ldiv(long a, long b) { return (struct proviso_ldiv){a / b, a % b}; }

struct proviso_lldiv lldiv(long long a, long long b) { return (struct proviso_lldiv){a / b, a % b}; }

struct proviso_lldiv imaxdiv(intmax_t a, intmax_t b) { return (struct proviso_lldiv){a / b, a % b}; }

// Numbers from text.

static struct proviso_integer proviso_strto(const char *s, char **end, int base, _Bool binary) {
    if (base < 0 || base == 1 || base > 36) {
        SET_ERRNO(EINVAL);
        return (struct proviso_integer){0, 0, 0, s};
    }
    struct proviso_integer n = proviso_read_integer(s, SIZE_MAX, base, binary);
    if (end)
        *end = (char *)n.end;
    return n;
}

#define STRTO(function, type, convert, max, binary)                                                                  \
    type function(const char *s, char **end, int base) {                                                             \
        return convert(proviso_strto(s, end, base, binary), max);                                                    \
    }

STRTO(strtol, long, proviso_signed, LONG_MAX, 0)
STRTO(strtoul, unsigned long, proviso_unsigned, 2ul * LONG_MAX + 1, 0)
STRTO(strtoll, long long, proviso_signed, LLONG_MAX, 0)
STRTO(strtoull, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1, 0)
STRTO(strtoq, long long, proviso_signed, LLONG_MAX, 0)
STRTO(strtouq, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1, 0)
STRTO(strtoimax, intmax_t, proviso_signed, LLONG_MAX, 0)
STRTO(strtoumax, uintmax_t, proviso_unsigned, 2ull * LLONG_MAX + 1, 0)
STRTO(__isoc23_strtol, long, proviso_signed, LONG_MAX, 1)
STRTO(__isoc23_strtoul, unsigned long, proviso_unsigned, 2ul * LONG_MAX + 1, 1)
STRTO(__isoc23_strtoll, long long, proviso_signed, LLONG_MAX, 1)
STRTO(__isoc23_strtoull, unsigned long long, proviso_unsigned, 2ull * LLONG_MAX + 1, 1)
STRTO(__isoc23_strtoimax, intmax_t, proviso_signed, LLONG_MAX, 1)
STRTO(__isoc23_strtoumax, uintmax_t, proviso_unsigned, 2ull * LLONG_MAX + 1, 1)

long __strtol_internal(const char *s, char **end, int base, int group) {
    return proviso_signed(proviso_strto(s, end, base, 0), LONG_MAX);
}

int atoi(const char *s) { return proviso_signed(proviso_strto(s, NULL, 10, 0), LONG_MAX); }

long atol(const char *s) { return proviso_signed(proviso_strto(s, NULL, 10, 0), LONG_MAX); }

long long atoll(const char *s) { return proviso_signed(proviso_strto(s, NULL, 10, 0), LLONG_MAX); }

static struct proviso_real proviso_strtor(const char *s, char **end) {
    struct proviso_real n = proviso_read_real(s);
    if (end)
        *end = (char *)n.end;
    return n;
}

double atof(const char *s) { return proviso_double(proviso_strtor(s, NULL)); }

double strtod(const char *s, char **end) { return proviso_double(proviso_strtor(s, end)); }

float strtof(const char *s, char **end) { return proviso_float(proviso_strtor(s, end)); }

long double strtold(const char *s, char **end) { return proviso_long_double(proviso_strtor(s, end)); }

// Sorting and searching.

typedef int proviso_compare(const void *, const void *);

// A merge sort from the bottom up, stable as the C library's.
void qsort(void *base, size_t count, size_t size, proviso_compare *compare) {
    if (count < 2 || size == 0)
        return;
    char *array = base, *merged = __proviso_alloc(count * size);
    for (size_t run = 1; run < count; run *= 2) {
        size_t out = 0;
        for (size_t start = 0; start < count; start += 2 * run) {
            size_t middle = run < count - start ? start + run : count;
            size_t end = run < count - middle ? middle + run : count;
            size_t left = start, right = middle;
            while (out < end) {
                _Bool from_left =
                    right == end || (left < middle && compare(array + left * size, array + right * size) <= 0);
                size_t next = from_left ? left++ : right++;
                __builtin_memcpy(merged + out * size, array + next * size, size);
                out++;
            }
        }
        __builtin_memcpy(array, merged, count * size);
    }
    __proviso_free(merged);
}

void *bsearch(const void *key, const void *base, size_t count, size_t size, proviso_compare *compare) {
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        char *element = (char *)base + middle * size;
        int order = compare(key, element);
        if (order == 0)
            return element;
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

static char *proviso_find(const void *key, const void *base, size_t count, size_t size, proviso_compare *compare) {
    for (size_t i = 0; i < count; i++) {
        char *element = (char *)base + i * size;
        if (compare(key, element) == 0)
            return element;
    }
    return NULL;
}

void *lfind(const void *key, const void *base, size_t *count, size_t size, proviso_compare *compare) {
    return proviso_find(key, base, *count, size, compare);
}

void *lsearch(const void *key, void *base, size_t *count, size_t size, proviso_compare *compare) {
    char *found = proviso_find(key, base, *count, size, compare);
    if (!found) {
        found = (char *)base + *count * size;
        __builtin_memcpy(found, key, size);
        ++*count;
    }
    return found;
}

// Pseudo-random numbers: any number, whatever the seed.

int rand(void) { return proviso_env_between(0, INT_MAX); }

void srand(unsigned seed) {}

int rand_r(unsigned *seed) {
    *seed = __proviso_env_int();
    return proviso_env_between(0, INT_MAX);
}

long random(void) { return proviso_env_between(0, INT_MAX); }

void srandom(unsigned seed) {}

double drand48(void) {
    double value = __proviso_env_double();
    __proviso_assume((value >= 0) & (value < 1));
    return value;
}

long lrand48(void) { return proviso_env_between(0, INT_MAX); }

long mrand48(void) { return __proviso_env_int(); }

void srand48(long seed) {}

unsigned arc4random(void) { return __proviso_env_int(); }

unsigned arc4random_uniform(unsigned bound) {
    unsigned value = __proviso_env_int();
    __proviso_assume((value < bound) | ((bound < 2) & (value == 0)));
    return value;
}

// Memory. As everywhere, allocation does not fail.

static void *proviso_realloc(void *ptr, size_t size) {
    if (!ptr)
        return malloc(size);
    if (size == 0) {
        free(ptr);
        return NULL;
    }
    size_t old = __proviso_object_size(ptr);
    void *new = malloc(size);
    if (!new)
        return NULL;
    __builtin_memcpy(new, ptr, old < size ? old : size);
    free(ptr);
    return new;
}

void *realloc(void *ptr, size_t size) { return proviso_realloc(ptr, size); }

void *reallocarray(void *ptr, size_t count, size_t size) {
    size_t total;
    if (__builtin_mul_overflow(count, size, &total)) {
        SET_ERRNO(ENOMEM);
        return NULL;
    }
    return proviso_realloc(ptr, total);
}

int posix_memalign(void **ptr, size_t align, size_t size) {
    if (align % sizeof(void *) != 0 || align == 0 || (align & (align - 1)) != 0)
        return EINVAL;
    *ptr = __proviso_alloc_aligned(align, size);
    return 0;
}

size_t malloc_usable_size(void *ptr) { return ptr ? __proviso_object_size(ptr) : 0; }

void *pvalloc(size_t size) { return __proviso_alloc_aligned(4096, (size + 4095) & ~(size_t)4095); }

// The environment.

// Null, or a string that has no more bytes than Linux gives one.
static char *proviso_getenv(const char *name) {
    proviso_strlen(name);
    if (__proviso_env_bool())
        return NULL;
    size_t size = __proviso_env_size();
    __proviso_assume((size > 0) & (size <= 131072));
    char *value = __proviso_alloc(size);
    __proviso_env_memory(value, size);
    value[size - 1] = 0;
    return value;
}

char *getenv(const char *name) { return proviso_getenv(name); }

char *secure_getenv(const char *name) { return proviso_getenv(name); }

int setenv(const char *name, const char *value, int overwrite) {
    proviso_strlen(name);
    proviso_strlen(value);
    __proviso_overapproximated("setenv");
    return proviso_env_between(-1, 0);
}

int unsetenv(const char *name) {
    proviso_strlen(name);
    __proviso_overapproximated("unsetenv");
    return proviso_env_between(-1, 0);
}

int putenv(char *entry) {
    proviso_strlen(entry);
    __proviso_unmodelled("putenv");
    return __proviso_env_int();
}

int system(const char *command) {
    if (command)
        proviso_strlen(command);
    return __proviso_env_int();
}

// What happens at the end of the program.

struct proviso_handler {
    struct proviso_handler *next;
    enum { PROVISO_PLAIN, PROVISO_WITH_STATUS, PROVISO_WITH_ARGUMENT } kind;
    void *function, *argument;
};

static struct proviso_handler *proviso_handlers;

static int proviso_register(int kind, void *function, void *argument) {
    struct proviso_handler *handler = __proviso_alloc(sizeof *handler);
    handler->next = proviso_handlers;
    handler->kind = kind;
    handler->function = function;
    handler->argument = argument;
    proviso_handlers = handler;
    return 0;
}

int atexit(void (*function)(void)) { return proviso_register(PROVISO_PLAIN, function, NULL); }

int on_exit(void (*function)(int, void *), void *argument) {
    return proviso_register(PROVISO_WITH_STATUS, function, argument);
}

int __cxa_atexit(void (*function)(void *), void *argument, void *library) {
    return proviso_register(PROVISO_WITH_ARGUMENT, function, argument);
}

// `quick_exit` runs nothing else, and is modelled without these.
int at_quick_exit(void (*function)(void)) {
    __proviso_unmodelled("at_quick_exit");
    return 0;
}

// Called by `exit` and after `main`. A handler may register another, and may call `exit`.
void __proviso_at_exit(void) {
    while (proviso_handlers) {
        struct proviso_handler handler = *proviso_handlers;
        __proviso_free(proviso_handlers);
        proviso_handlers = handler.next;
        switch (handler.kind) {
        case PROVISO_PLAIN:
            ((void (*)(void))handler.function)();
            break;
        case PROVISO_WITH_STATUS:
            __proviso_unmodelled("the exit status that on_exit hands over is not modelled");
            ((void (*)(int, void *))handler.function)(__proviso_env_int(), handler.argument);
            break;
        case PROVISO_WITH_ARGUMENT:
            ((void (*)(void *))handler.function)(handler.argument);
            break;
        }
    }
}
