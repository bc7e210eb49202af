// stdlib.h, and conversions of text to numbers.
#include "harness.h"
#include <inttypes.h>
#include <search.h>

DRIVER(abs) { see(LIB(abs)(random_integer())); }
DRIVER(labs) { see(LIB(labs)(random_integer())); }
DRIVER(llabs) { see(LIB(llabs)(random_integer())); }
DRIVER(imaxabs) { see(LIB(imaxabs)(random_integer())); }
#define DIVIDE(name, type, result)                                                                                   \
    DRIVER(name) {                                                                                                   \
        type a = random_integer(), b = random_integer();                                                             \
        b += b == 0;                                                                                                 \
        if (b == -1)                                                                                                 \
            a = 5;                                                                                                   \
        result x = LIB(name)(a, b);                                                                                  \
        see(x.quot);                                                                                                 \
        see(x.rem);                                                                                                  \
    }
DIVIDE(div, int, div_t)
DIVIDE(ldiv, long, ldiv_t)
DIVIDE(lldiv, long long, lldiv_t)
DIVIDE(imaxdiv, intmax_t, imaxdiv_t)

// A text that resembles a number.
static char *nearly_a_number(void) {
    static const char *const parts[] = {
        " ",   "\t",  "-",   "+",   "0x",   "0X",       "0",   "9223372036854775807",  "7",  "8",
        "f",   "Z",   "12",  "1e",  "e5",   ".",        "x",   "18446744073709551616", "3",  "2147483648",
        "0b1", "inf", "nan", "p3",  "1.5",  "nan(a1)",  "e-7", "-9223372036854775808", "00", "16777217",
        "INF", "e+",  "p-2", "e30", "e308", "infinity", "0b",  "4294967295",           "_",  "\v"};
    char text[128] = "";
    for (unsigned n = random_below(5); n > 0; n--)
        strcat(text, parts[random_below(sizeof parts / sizeof *parts)]);
    return text_in_room(text);
}

#define STRTO(name)                                                                                                  \
    DRIVER(name) {                                                                                                   \
        char *s = nearly_a_number(), *end = s + 1;                                                                   \
        int base = random_below(3) ? (int)random_below(39) - 1 : random_below(2) ? 0 : 10;                           \
        _Bool with_end = random_below(8);                                                                            \
        say(#name " base %d", base);                                                                                 \
        see(LIB(name)(s, with_end ? &end : NULL, base));                                                             \
        see_pointer(end);                                                                                            \
    }
STRTO(strtol)
STRTO(strtoul)
STRTO(strtoll)
STRTO(strtoull)
STRTO(strtoq)
STRTO(strtouq)
STRTO(strtoimax)
STRTO(strtoumax)
DRIVER(__strtol_internal) {
    extern long __strtol_internal(const char *, char **, int, int);
    char *s = nearly_a_number(), *end = s;
    see(LIB(__strtol_internal)(s, &end, ONE_OF(0, 8, 10, 16), 0));
    see_pointer(end);
}
DRIVER(atoi) { see(LIB(atoi)(nearly_a_number())); }
DRIVER(atol) { see(LIB(atol)(nearly_a_number())); }
DRIVER(atoll) { see(LIB(atoll)(nearly_a_number())); }

// A decimal or hexadecimal fraction, in or out of range, with few or many digits.
static char *real_number(void) {
    if (random_below(4) == 0)
        return nearly_a_number();
    char text[400];
    long double x = random_below(3) ? random_double() : random_longdouble();
    int digits = random_below(4) ? random_below(20) : random_below(60);
    switch (random_below(6)) {
    case 0:
        snprintf(text, sizeof text, "%.*Lf", digits, x < 1e20L && x > -1e20L ? x : 1.5L);
        break;
    case 1:
        snprintf(text, sizeof text, "%.*Le", digits, x);
        break;
    case 2:
        snprintf(text, sizeof text, "%.*La", digits % 20, x);
        break;
    case 3:
        // A number near an end of the range of one of the three types.
        snprintf(text, sizeof text, "%s%u.%ue%d", ONE_OF("", "-"), random_below(100), random_below(1000000),
                 ONE_OF(38, -38, -45, 308, -308, -324, 4931, 4932, -4932, -4951, -46, 39) + (int)random_below(5) - 2);
        break;
    case 4:
        snprintf(text, sizeof text, "%s0x%x.%xp%d", ONE_OF("", "-"), random_below(100), (unsigned)random_bits(),
                 ONE_OF(127, -127, -149, 1023, -1023, -1074, 16383, -16383, -16445, -151, 0, 60) +
                     (int)random_below(9) - 4);
        break;
    default:
        snprintf(text, sizeof text, "%.*Lg", digits, x);
    }
    return text_in_room(text);
}

#define STRTOR(name)                                                                                                 \
    DRIVER(name) {                                                                                                   \
        may_approximate();                                                                                           \
        char *s = real_number(), *end = s;                                                                           \
        see_real(LIB(name)(s, random_below(8) ? &end : NULL));                                                       \
        see_pointer(end);                                                                                            \
    }
STRTOR(strtod)
STRTOR(strtof)
STRTOR(strtold)
DRIVER(atof) {
    may_approximate();
    see_real(LIB(atof)(real_number()));
}
// Typical numbers are read exactly.
DRIVER(plain_fractions) {
    char text[40];
    snprintf(text, sizeof text, "%d.%0*u%s", (int)random_below(100000) - 50000, 1 + random_below(6), random_below(10),
             ONE_OF("", "e5", "e-3"));
    char *s = text_in_room(text), *end = s;
    see_real(LIB(strtod)(s, &end));
    see_real(LIB(strtold)(s, NULL));
    see_pointer(end);
}

// Sorting and searching, including all calls of the comparison function.
struct element {
    char key, place, padding[7];
};
static size_t element_size;
static int ascending = 1;
static int compare(const void *a, const void *b) {
    const char *x = a, *y = b;
    see(x[0]);
    see(y[0]);
    if (element_size > 1) {
        see(x[1]);
        see(y[1]);
    }
    return (x[0] - y[0]) * ascending;
}
static char *elements(size_t count) {
    element_size = ONE_OF(1, 2, 3, 4, 8, 9, 33);
    char *p = room(480 / 8 * 8);
    for (size_t i = 0; i < count; i++) {
        memset(p + i * element_size, 'e', element_size);
        p[i * element_size] = random_below(8);
        if (element_size > 1)
            p[i * element_size + 1] = i;
    }
    return p;
}
DRIVER(qsort) {
    size_t count = random_below(15);
    ascending = ONE_OF(1, -1, 0);
    char *p = elements(count);
    LIB(qsort)(p, count, element_size, compare);
    ascending = 1;
}
static int compare_with(const void *a, const void *b, void *argument) {
    see_pointer(argument);
    return compare(a, b);
}
DRIVER(qsort_r) {
    size_t count = random_below(15);
    ascending = ONE_OF(1, -1, 0);
    char *p = elements(count);
    LIB(qsort_r)(p, count, element_size, compare_with, p);
    ascending = 1;
}
DRIVER(bsearch) {
    size_t count = random_below(15);
    char *p = elements(count);
    for (size_t i = 0; i < count; i++)
        p[i * element_size] = i / 2;
    char key[2] = {random_below(9), 'k'};
    see_pointer(LIB(bsearch)(key, p, count, element_size, compare));
}
DRIVER(lfind) {
    size_t count = random_below(14);
    char *p = elements(count), key[40] = {random_below(9), 'k'};
    see_pointer(LIB(lfind)(key, p, &count, element_size, compare));
    see(count);
}
DRIVER(lsearch) {
    size_t count = random_below(14);
    char *p = elements(count), key[40] = {random_below(9), 'k'};
    see_pointer(LIB(lsearch)(key, p, &count, element_size, compare));
    see(count);
}

// Random numbers.
#define ASK(name, see, ...)                                                                                          \
    DRIVER(name) {                                                                                                   \
        asks_environment();                                                                                          \
        see(LIB(name)(__VA_ARGS__));                                                                                 \
    }
ASK(rand, see)
ASK(random, see)
ASK(arc4random, see)
// Equal seeds give equal numbers. For the functions of C, this holds for all numbers that were drawn.
DRIVER(srand) {
    asks_environment();
    unsigned seeds[3] = {2, random_bits() | 2, random_bits() | 2};
    for (int i = random_below(12); i > 0; i--) {
        if (random_below(2)) {
            unsigned seed = seeds[random_below(3)];
            LIB(srand)(seed);
            NATIVELY srand(seed);
        }
        see(LIB(rand)());
    }
}
DRIVER(srand48) {
    unsigned short parameters[7], seed[3];
    for (int i = 0; i < 7; i++)
        parameters[i] = random_bits();
    for (int i = 0; i < 3; i++)
        seed[i] = random_bits();
    LIB(srand48)((long)random_bits());
    for (int i = random_below(8); i > 0; i--) {
        see_real(LIB(drand48)());
        see(LIB(lrand48)());
        see(LIB(mrand48)());
        see_real(LIB(erand48)(seed));
        see(LIB(nrand48)(seed));
        see(LIB(jrand48)(seed));
        switch (random_below(4)) {
        case 0:
            LIB(srand48)(random_integer());
            break;
        case 1:
            see_bytes(LIB(seed48)(seed), 6);
            break;
        case 2:
            LIB(lcong48)(parameters);
        }
    }
    // Other drivers need the default multiplier.
    LIB(srand48)(0);
}
DRIVER(arc4random_uniform) {
    asks_environment();
    uint32_t bound = random_below(2) ? random_below(4) : (uint32_t)random_integer();
    see(LIB(arc4random_uniform)(bound));
}
DRIVER(arc4random_buf) {
    asks_environment();
    unsigned n = random_below(40);
    LIB(arc4random_buf)(room(n), n);
}
DRIVER(rand_r) {
    unsigned state = random_bits();
    see(LIB(rand_r)(&state));
    see(state);
}
DRIVER(erand48) {
    unsigned short *state = room(6);
    for (int i = 0; i < 3; i++)
        state[i] = random_bits();
    see_real(LIB(erand48)(state));
}
DRIVER(nrand48) {
    unsigned short *state = room(6);
    for (int i = 0; i < 3; i++)
        state[i] = random_bits();
    see(LIB(nrand48)(state));
}
DRIVER(jrand48) {
    unsigned short *state = room(6);
    for (int i = 0; i < 3; i++)
        state[i] = random_bits();
    see(LIB(jrand48)(state));
}

// Environment variables, with names that nothing else uses.
static const char *name(void) { return ONE_OF("PROVISO_A", "PROVISO_B", "PROVISO_AB"); }
static const char *odd_name(void) { return random_below(8) ? name() : ONE_OF("", "PROVISO_A=", "="); }
DRIVER(getenv) {
    asks_environment();
    for (int i = 0; i < 3; i++) {
        const char *n = name();
        NATIVELY clearenv();
        char *value = LIB(getenv)(n);
        see_text(value);
        see(LIB(getenv)(n) == value);
        see(LIB(secure_getenv)(n) == value);
    }
}
DRIVER(setenv) {
    asks_environment();
    NATIVELY clearenv();
    _Bool known = random_below(4);
    if (known)
        see(LIB(clearenv)());
    for (int i = 0; i < (known ? 8 : 2); i++) {
        switch (random_below(4)) {
        case 0:
            see(LIB(setenv)(odd_name(), random_string(8, "ab="), random_below(2)));
            break;
        case 1:
            see(LIB(unsetenv)(odd_name()));
            break;
        case 2: {
            static char entries[8][20];
            snprintf(entries[i], 20, "%s%s%s", name(), ONE_OF("", "=", "=", "="), ONE_OF("", "x", "y=z"));
            see(LIB(putenv)(entries[i]));
            if (random_below(2) && strchr(entries[i], '='))
                *(strchr(entries[i], 0) - 1) = '=';
            break;
        }
        default:
            if (random_below(8) == 0)
                see(LIB(clearenv)());
        }
        see(LIB_ERRNO);
        see_text(LIB(getenv)(name()));
    }
}

// Memory. Sizes are small, or too large for any machine.
static size_t small_or_huge(void) {
    return random_below(4) ? random_below(200) : ONE_OF(SIZE_MAX, SIZE_MAX - 100, SIZE_MAX / 2 + 1, SIZE_MAX / 2 + 17);
}
static void see_memory(char *p, size_t size, size_t align) {
    see(p != NULL);
    if (p) {
        see((uintptr_t)p % align);
        memset(p, 'm', size);
        release(p);
    }
}
DRIVER(calloc) {
    size_t count = small_or_huge(), size = random_below(2) ? random_below(20) : small_or_huge();
    char *p = LIB(calloc)(count, size);
    if (p)
        see_bytes(p, count * size);
    see_memory(p, count * size, 16 / 8 * sizeof(void *));
}
static size_t alignment(void) { return ONE_OF(0, 1, 2, 3, 4, 8, 12, 16, 24, 32, 33, 64, 128, 200, 4096); }
DRIVER(aligned_alloc) {
    size_t align = alignment(), size = small_or_huge();
    see_memory(LIB(aligned_alloc)(align, size), size, align & (align - 1) || !align ? 1 : align);
}
DRIVER(memalign) {
    extern void *memalign(size_t, size_t);
    size_t align = random_below(4) ? alignment() : SIZE_MAX / 2 + 2 + random_below(9), size = small_or_huge();
    see_memory(LIB(memalign)(align, size), size, align & (align - 1) || !align ? 1 : align);
}
DRIVER(posix_memalign) {
    size_t align = alignment(), size = small_or_huge();
    void *p = &p;
    int result = LIB(posix_memalign)(&p, align, size);
    see(result);
    see(p == &p);
    // The library may or may not change `errno` here.
    LIB_ERRNO = 0;
    if (result == 0)
        see_memory(p, size, align);
}
DRIVER(valloc) {
    extern void *valloc(size_t);
    size_t size = small_or_huge();
    see_memory(LIB(valloc)(size), size, 4096);
}
DRIVER(pvalloc) {
    extern void *pvalloc(size_t);
    size_t size = small_or_huge();
    see_memory(LIB(pvalloc)(size), size, 4096);
}
static char *some_memory(void) { return random_below(8) ? LIB(strdup)(random_string(60, "ab")) : NULL; }
DRIVER(realloc) {
    char *p = some_memory();
    size_t kept = p ? strlen(p) + 1 : 0, size = random_below(8) ? random_below(90) : SIZE_MAX / 2 + 1;
    char *q = LIB(realloc)(p, size);
    see(q != NULL);
    if (q) {
        see_bytes(q, kept < size ? kept : size);
        see_memory(q, size, sizeof(void *));
    } else if (size) {
        release(p);
    }
}
DRIVER(reallocarray) {
    char *p = some_memory();
    size_t kept = p ? strlen(p) + 1 : 0, count = small_or_huge(), size = random_below(2) ? 1 : small_or_huge();
    char *q = LIB(reallocarray)(p, count, size);
    see(q != NULL);
    if (q) {
        see_bytes(q, kept < count * size ? kept : count * size);
        see_memory(q, count * size, sizeof(void *));
    }
}
DRIVER(malloc_usable_size) {
    extern size_t malloc_usable_size(void *);
    may_approximate();
    char *p = some_memory();
    see(LIB(malloc_usable_size)(p));
    release(p);
}
