// Defines: abs labs llabs imaxabs div ldiv lldiv imaxdiv
// Defines: atoi atol atoll strtol strtoul strtoll strtoull strtoq strtouq strtoimax strtoumax __strtol_internal
// Defines: __isoc23_strtol __isoc23_strtoul __isoc23_strtoll __isoc23_strtoull __isoc23_strtoimax __isoc23_strtoumax
// Defines: atof strtod strtof strtold
// Defines: qsort qsort_r bsearch lfind lsearch
// Defines: rand srand rand_r random srandom initstate drand48 erand48 lrand48 nrand48 mrand48 jrand48 srand48
// Defines: seed48 lcong48
// Defines: arc4random arc4random_buf arc4random_uniform system
// Defines: atexit on_exit __cxa_atexit at_quick_exit __proviso_at_exit __proviso_at_quick_exit
#pragma once
#include "number.c"
#include "proviso.h"

// Arithmetic. As in two's complement, the result for INT_MIN is INT_MIN.

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

// Conversion of text to numbers.

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

double atof(const char *s) { return proviso_double(proviso_strtor(s, NULL)); }

double strtod(const char *s, char **end) { return proviso_double(proviso_strtor(s, end)); }

float strtof(const char *s, char **end) { return proviso_float(proviso_strtor(s, end)); }

long double strtold(const char *s, char **end) { return proviso_long_double(proviso_strtor(s, end)); }

// Sorting and searching.

typedef int proviso_compare(const void *, const void *);

#define PROVISO_SORTING(function) function
#define PROVISO_COMPARING proviso_compare *compare
#define PROVISO_COMPARED compare
#define PROVISO_ORDER(a, b) compare(a, b)
#include "sort.h"
#undef PROVISO_SORTING
#undef PROVISO_COMPARING
#undef PROVISO_COMPARED
#undef PROVISO_ORDER

void qsort(void *base, size_t count, size_t size, proviso_compare *compare) { proviso_sort(base, count, size, compare); }

#define PROVISO_SORTING(function) function##_with
#define PROVISO_COMPARING int (*compare)(const void *, const void *, void *), void *argument
#define PROVISO_COMPARED compare, argument
#define PROVISO_ORDER(a, b) compare(a, b, argument)
#include "sort.h"

void qsort_r(void *base, size_t count, size_t size, int (*compare)(const void *, const void *, void *), void *argument) {
    proviso_sort_with(base, count, size, compare, argument);
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

// Random numbers are arbitrary, but equal after equal seeds. The initial seed is 1. If the program may set a seed
// repeatedly (PROVISO_RESEEDS), some sequences are stored. Beyond those, nothing is known.
#if defined(PROVISO_RESEEDS)

enum { PROVISO_SEQUENCES = 4, PROVISO_KEPT_NUMBERS = 16 };
static struct {
    unsigned seed;
    // The functions that used the seed, as bits: `rand` with `srand`, `random` with `srandom`. In the GNU C library
    // both share one sequence, which C and POSIX do not require.
    int families;
    // The numbers that were drawn, up to the number of stored ones.
    int drawn, numbers[PROVISO_KEPT_NUMBERS];
} proviso_sequences[PROVISO_SEQUENCES] = {{.seed = 1}};
// The number of sequences. The current one, or -1 if there are too many. The numbers drawn since its seed was set, up
// to the number of stored ones. True if its seed was set before.
static int proviso_sequence_count = 1, proviso_sequence, proviso_place_in_sequence;
static _Bool proviso_comes_again;

static void proviso_seed(unsigned seed, int family) {
    proviso_place_in_sequence = proviso_comes_again = 0;
    for (int i = 0; i < proviso_sequence_count; i++) {
        if (proviso_sequences[i].drawn == 0)
            continue;
        if (proviso_sequences[i].seed == seed) {
            proviso_sequence = i;
            proviso_sequences[i].families |= family;
            proviso_comes_again = 1;
            return;
        }
        // The library replaces the seed 0 by 1.
        if ((proviso_sequences[i].seed | seed) == 1)
            __proviso_overapproximated("the seeds 0 and 1 may lead to different random numbers");
    }
    // A sequence from which nothing was drawn need not be stored.
    if (proviso_sequences[proviso_sequence_count - 1].drawn > 0) {
        if (proviso_sequence_count == PROVISO_SEQUENCES) {
            __proviso_overapproximated("the program uses more seeds of random numbers than are modelled");
            proviso_sequence = -1;
            return;
        }
        proviso_sequence_count++;
    }
    proviso_sequence = proviso_sequence_count - 1;
    proviso_sequences[proviso_sequence].seed = seed;
    proviso_sequences[proviso_sequence].families = family;
}

static int proviso_draw(int family) {
    int number = proviso_env_between(0, INT_MAX), at = proviso_place_in_sequence;
    if (proviso_sequence < 0)
        return number;
    int *families = &proviso_sequences[proviso_sequence].families, *drawn = &proviso_sequences[proviso_sequence].drawn;
    int *kept = &proviso_sequences[proviso_sequence].numbers[at];
    *families |= family;
    if (at == PROVISO_KEPT_NUMBERS) {
        if (proviso_comes_again)
            __proviso_overapproximated("the program draws more random numbers from one seed than are modelled");
        return number;
    }
    proviso_place_in_sequence++;
    if (at == *drawn) {
        ++*drawn;
        *kept = number;
    } else if (*families != family) {
        __proviso_overapproximated("the state that rand and random share is not modelled");
    } else {
        __proviso_assume(number == *kept);
    }
    return number;
}

#elif defined(PROVISO_SEEDS)

// The single seed may equal the seed of earlier numbers.
static _Bool proviso_has_drawn;

static void proviso_seed(unsigned seed, int family) {
    if (proviso_has_drawn && seed <= 1)
        __proviso_overapproximated("random numbers that were drawn before the seed is set are not modelled");
}

static int proviso_draw(int family) {
    proviso_has_drawn = 1;
    return proviso_env_between(0, INT_MAX);
}

#else

static void proviso_seed(unsigned seed, int family) {}
static int proviso_draw(int family) { return proviso_env_between(0, INT_MAX); }

#endif

enum { PROVISO_RAND = 1, PROVISO_RANDOM = 2 };

int rand(void) { return proviso_draw(PROVISO_RAND); }
void srand(unsigned seed) { proviso_seed(seed, PROVISO_RAND); }
long random(void) { return proviso_draw(PROVISO_RANDOM); }
void srandom(unsigned seed) { proviso_seed(seed, PROVISO_RANDOM); }

// The result of the GNU C library.
int rand_r(unsigned *seed) {
    unsigned next = *seed * 1103515245 + 12345, result = next / 65536 % 2048;
    for (int i = 0; i < 2; i++) {
        next = next * 1103515245 + 12345;
        result = result << 10 ^ next / 65536 % 1024;
    }
    *seed = next;
    return result;
}

// An opaque state for `random` that the library reads and writes.
char *initstate(unsigned seed, char *state, size_t size) {
    static char before[128];
    if (size < 8) {
        SET_ERRNO(EINVAL);
        return NULL;
    }
    size_t used = size < 32 ? 8 : size < 64 ? 32 : size < 128 ? 64 : size < 256 ? 128 : 256;
    __proviso_env_memory(state, used);
    __proviso_overapproximated("initstate");
    return before;
}

// The generator that POSIX defines: x becomes a * x + c in 48 bits. Without a seed, the library starts at 0.
#define PROVISO_A48 0x5deece66dull
#define PROVISO_C48 0xb
static unsigned long long proviso_x48, proviso_a48 = PROVISO_A48;
static unsigned short proviso_c48 = PROVISO_C48;

static unsigned long long proviso_join48(const unsigned short x[3]) {
    return x[0] | (unsigned long long)x[1] << 16 | (unsigned long long)x[2] << 32;
}

static void proviso_split48(unsigned long long from, unsigned short x[3]) {
    x[0] = from;
    x[1] = from >> 16;
    x[2] = from >> 32;
}

static unsigned long long proviso_step48(unsigned long long x) { return (x * proviso_a48 + proviso_c48) & 0xffffffffffffull; }

static unsigned long long proviso_draw48(void) { return proviso_x48 = proviso_step48(proviso_x48); }

static unsigned long long proviso_draw_from48(unsigned short state[3]) {
    unsigned long long x = proviso_step48(proviso_join48(state));
    proviso_split48(x, state);
    return x;
}

double drand48(void) { return proviso_draw48() * 0x1p-48; }
double erand48(unsigned short state[3]) { return proviso_draw_from48(state) * 0x1p-48; }
long lrand48(void) { return proviso_draw48() >> 17; }
long nrand48(unsigned short state[3]) { return proviso_draw_from48(state) >> 17; }
long mrand48(void) { return (int)(proviso_draw48() >> 16); }
long jrand48(unsigned short state[3]) { return (int)(proviso_draw_from48(state) >> 16); }

static void proviso_start48(unsigned long long x, unsigned long long a, unsigned short c) {
    proviso_x48 = x;
    proviso_a48 = a;
    proviso_c48 = c;
}

void srand48(long seed) { proviso_start48((unsigned long long)(unsigned)seed << 16 | 0x330e, PROVISO_A48, PROVISO_C48); }

unsigned short *seed48(unsigned short seed[3]) {
    static unsigned short before[3];
    proviso_split48(proviso_x48, before);
    proviso_start48(proviso_join48(seed), PROVISO_A48, PROVISO_C48);
    return before;
}

void lcong48(unsigned short parameters[7]) {
    proviso_start48(proviso_join48(parameters), proviso_join48(parameters + 3), parameters[6]);
}

unsigned arc4random(void) { return __proviso_env_int(); }

void arc4random_buf(void *buffer, size_t size) { __proviso_env_memory(buffer, size); }

unsigned arc4random_uniform(unsigned bound) {
    unsigned value = __proviso_env_int();
    __proviso_assume((value < bound) | ((bound < 2) & (value == 0)));
    return value;
}

int system(const char *command) {
    if (!command)
        return __proviso_env_bool();
    proviso_strlen(command);
    int status = proviso_env_between(-1, 0xffff);
    SET_ERRNO_IF(status < 0, proviso_env_error());
    return status;
}

// Handlers that run at the end of the program.

enum { PROVISO_PLAIN, PROVISO_WITH_STATUS, PROVISO_WITH_ARGUMENT };

struct proviso_handler {
    struct proviso_handler *next;
    // One of the enumerators. The structure has no padding, which its copies would read without a value.
    long kind;
    void *function, *argument;
};

// The last registered handler runs first. `quick_exit` has separate handlers.
static struct proviso_handler *proviso_handlers, *proviso_quick_handlers;
static unsigned proviso_handler_count, proviso_quick_handler_count;

// The guaranteed number of handlers (C17 7.22.4.2p3) of each kind.
enum { PROVISO_PLACES = 32 };

// Null if there is no room.
static struct proviso_handler *proviso_new_handler(_Bool has_place, int kind, void *function, void *argument) {
    if (!has_place && __proviso_allocation_fails()) {
        SET_ERRNO(ENOMEM);
        return NULL;
    }
    struct proviso_handler *handler = __proviso_make_internal(sizeof *handler);
    handler->kind = kind;
    handler->function = function;
    handler->argument = argument;
    return handler;
}

static int proviso_register(int kind, void *function, void *argument) {
    struct proviso_handler *handler =
        proviso_new_handler(proviso_handler_count < PROVISO_PLACES, kind, function, argument);
    if (!handler)
        return -1;
    proviso_handler_count++;
    handler->next = proviso_handlers;
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

int at_quick_exit(void (*function)(void)) {
    struct proviso_handler *handler =
        proviso_new_handler(proviso_quick_handler_count < PROVISO_PLACES, PROVISO_PLAIN, function, NULL);
    if (!handler)
        return -1;
    proviso_quick_handler_count++;
    handler->next = proviso_quick_handlers;
    proviso_quick_handlers = handler;
    return 0;
}

// Called by `quick_exit`.
void __proviso_at_quick_exit(void) {
    while (proviso_quick_handlers) {
        struct proviso_handler handler = *proviso_quick_handlers;
        __proviso_free_internal(proviso_quick_handlers);
        proviso_quick_handlers = handler.next;
        ((void (*)(void))handler.function)();
    }
}

// Called by `exit` and after `main`. A handler may register another one, and may call `exit`.
void __proviso_at_exit(int status) {
    while (proviso_handlers) {
        struct proviso_handler handler = *proviso_handlers;
        __proviso_free_internal(proviso_handlers);
        proviso_handlers = handler.next;
        switch (handler.kind) {
        case PROVISO_PLAIN:
            ((void (*)(void))handler.function)();
            break;
        case PROVISO_WITH_STATUS:
            ((void (*)(int, void *))handler.function)(status, handler.argument);
            break;
        case PROVISO_WITH_ARGUMENT:
            ((void (*)(void *))handler.function)(handler.argument);
            break;
        }
    }
}
