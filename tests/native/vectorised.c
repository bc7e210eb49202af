/* Loops that clang vectorises with masked accesses, and switches that it turns into tables. */
#include "report.h"
#include <string.h>

static unsigned hash = 1, seed = 7;
static int next(void) { return (int)((seed = seed * 1103515245u + 12345u) >> 8); }

#define NOINLINE __attribute__((noinline))
/* Masked loads and stores. */
#define WHERE_POSITIVE(T) NOINLINE static void on_##T(T *to, const T *from, const int *signs, int n) { \
    for (int i = 0; i < n; i++) if (signs[i] > 0) to[i] = from[i] + (T)signs[i]; }
typedef unsigned char byte;
WHERE_POSITIVE(byte) WHERE_POSITIVE(short) WHERE_POSITIVE(int) WHERE_POSITIVE(long) WHERE_POSITIVE(float) WHERE_POSITIVE(double)
NOINLINE static int sum_where(const int *from, const int *signs, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) if (signs[i] & 1) sum += from[i];
    return sum;
}
/* Gathers and scatters. */
NOINLINE static int sum_at(const int *from, const int *indices, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) sum += from[indices[i]];
    return sum;
}
NOINLINE static int sum_at_where(const int *from, const int *indices, const int *signs, int n) {
    int sum = 0;
    for (int i = 0; i < n; i++) if (signs[i] > 0) sum += from[indices[i]];
    return sum;
}
NOINLINE static void put_apart(int *restrict to, const int *restrict from, const int *restrict signs, int n) {
    for (int i = 0; i < n; i++) if (signs[i] > 0) to[3 * i] = from[i];
}
/* A table of relative addresses. */
NOINLINE static const char *name(int n) {
    switch (n) {
    case 0: return "zero";
    case 1: return "one";
    case 2: return "two";
    case 3: return "three";
    case 4: return "four";
    case 6: return "six";
    default: return "many";
    }
}
static int places[3];
NOINLINE static int *place(unsigned n) {
    switch (n) {
    case 0: return &places[2];
    case 1: return &places[0];
    case 2: return &places[1];
    case 3: return &places[1];
    case 4: return &places[2];
    default: return 0;
    }
}
NOINLINE static int order(long a, long b) { return (a > b) - (a < b); }
NOINLINE static int unsigned_order(unsigned a, unsigned b) { return a < b ? -1 : a > b; }

#define SAMPLE(T) { T to[37], from[37]; for (int i = 0; i < 37; i++) { to[i] = (T)i; from[i] = (T)(next() & 127); } \
    on_##T(to, from, signs, 37); for (int i = 0; i < 37; i++) hash = fold(hash, (unsigned long long)to[i]); }

int main(void) {
    int signs[37], from[37], indices[37], apart[111] = {0};
    for (int i = 0; i < 37; i++) {
        signs[i] = (next() & 63) - 32;
        from[i] = next() & 0xffff;
        indices[i] = (next() & 0xfff) % 37;
    }
    SAMPLE(byte) SAMPLE(short) SAMPLE(int) SAMPLE(long) SAMPLE(float) SAMPLE(double)
    hash = fold(hash, sum_where(from, signs, 37));
    hash = fold(hash, sum_at(from, indices, 37));
    hash = fold(hash, sum_at_where(from, indices, signs, 36));
    put_apart(apart, from, signs, 37);
    for (int i = 0; i < 111; i++) hash = fold(hash, apart[i]);
    for (int i = -2; i < 9; i++) hash = fold(hash, strlen(name(i)) * 256 + name(i)[1]);
    for (unsigned i = 0; i < 6; i++) {
        int *p = place(i);
        if (p) *p += 1 << i;
    }
    hash = fold(hash, places[0] + 1000 * places[1] + 1000000 * places[2]);
    for (int i = -2; i < 3; i++) for (int j = -2; j < 3; j++) hash = fold(hash, order(i, j) + 2 * unsigned_order(i, j));
    report(hash);
}
