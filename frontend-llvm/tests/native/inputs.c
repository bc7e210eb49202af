// Random inputs of drivers, natively and in the interpreter.
#include "harness.h"
#include <float.h>

unsigned random_below(unsigned bound) { return (unsigned)(random_bits() >> 32) % bound; }

int64_t random_integer(void) {
    uint64_t x = random_bits();
    switch (random_below(4)) {
    case 0:
        return (int64_t)(x % 200) - 100;
    case 1: {
        uint64_t near = (1ull << random_below(64)) + x % 3 - 1;
        return random_below(2) ? near : -near;
    }
    default:
        x >>= random_below(64);
        return random_below(2) ? x : -x;
    }
}

// Replaces signalling NaNs.
static long double quiet(long double x) { return x != x ? (long double)NAN : x; }

// A special number, a small number or half of one, a power of two or its neighbour, a decimal fraction, or any bits.
double random_double(void) {
    union {
        uint64_t bits;
        double value;
    } u;
    switch (random_below(9)) {
    case 0:
        return ONE_OF(0.0, -0.0, 1.0, -1.0, (double)INFINITY, -(double)INFINITY, (double)NAN, DBL_MIN, 0.5, DBL_MAX,
                      0x1p-1074, -0.5, 2.5, 0x1.fffffffffffffp-1023, 0x1p63, -0x1p63, 0x1p31, 0x1.921fb54442d18p0);
    case 1:
        return (double)(int)random_below(200) - 100;
    case 2:
        return ((double)(int)random_below(200) - 100) / 2;
    case 3:
        u.bits = (uint64_t)random_below(2047) << 52;
        u.bits += random_below(3) - 1;
        u.bits |= (uint64_t)random_below(2) << 63;
        return quiet(u.value);
    case 4:
        return (double)(int64_t)random_bits() / 0x1p32;
    case 5:
        return (double)((int)random_below(200001) - 100000) / 1000;
    case 6:
        // From 2^-64 to 2^64.
        u.bits = (random_bits() & 0x800fffffffffffff) | (uint64_t)(1023 - 64 + random_below(128)) << 52;
        return u.value;
    default:
        u.bits = random_bits();
        return quiet(u.value);
    }
}

float random_float(void) {
    union {
        uint32_t bits;
        float value;
    } u = {random_bits()};
    if (random_below(3) == 0) {
        u.bits = random_below(255) << 23;
        u.bits += random_below(3) - 1;
        u.bits |= random_below(2) << 31;
    }
    return random_below(2) ? (float)random_double() : (float)quiet(u.value);
}

long double random_longdouble(void) {
    union {
        struct {
            uint64_t fraction;
            uint16_t exponent;
        } bits;
        long double value;
    } u = {{random_bits(), random_bits()}};
    unsigned how = random_below(4);
    if (how == 0)
        return random_double();
    if (how == 1) {
        // Powers of two and their neighbours.
        u.bits.exponent = (u.bits.exponent & 0x8000) | random_below(0x7fff);
        u.bits.fraction = ONE_OF(1ull << 63, 1ull << 63 | 1, ~0ull);
    }
    // A valid encoding: the leading bit is set if and only if the exponent is not 0.
    u.bits.fraction = u.bits.exponent & 0x7fff ? u.bits.fraction | 1ull << 63 : u.bits.fraction & ~(1ull << 63);
    return quiet(u.value);
}

char *random_string_in(size_t size, unsigned max, const char *alphabet) {
    unsigned n = random_below(max + 1), letters = strlen(alphabet);
    n = n < size ? n : size - 1;
    char *s = room(size);
    for (unsigned i = 0; i < n; i++)
        s[i] = alphabet[random_below(letters)];
    s[n] = 0;
    say("a string \"%s\" in %u bytes", s, (unsigned)size);
    return s;
}

char *random_string(unsigned max, const char *alphabet) {
    return random_string_in(random_below(max + 1) + 1, max, alphabet);
}

char *text_in_room(const char *text) {
    say("a string \"%s\"", text);
    return memcpy(room(strlen(text) + 1), text, strlen(text) + 1);
}
