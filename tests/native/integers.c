/* Integer arithmetic of every width: promotions, wrap-around of unsigned types, shifts, division, bit tricks,
   __int128, _Bool, enums and bit-fields; a big-number computation of the digits of e. */
#include "report.h"
#include <limits.h>
#include <stdint.h>
#include <string.h>

static unsigned hash = 1;
#define SAMPLES(T) {(T)0, (T)1, (T)-1, (T)2, (T)7, (T)100, (T)0x7f, (T)0x80, (T)0x7fff, (T)0x8000, (T)0x7fffffff, (T)0x80000000u, (T)0x123456789abcdefll, (T)(1ull << 63), (T)((1ull << 63) - 1)}
#define UNSIGNED(T) static void on_##T(void) { \
    T s[] = SAMPLES(T); \
    for (unsigned i = 0; i < sizeof s / sizeof *s; i++) for (unsigned j = 0; j < sizeof s / sizeof *s; j++) { \
        T a = s[i], b = s[j]; \
        hash = fold(hash, (T)(a + b)); hash = fold(hash, (T)(a - b)); hash = fold(hash, (T)((unsigned long long)a * b)); \
        if (b) { hash = fold(hash, a / b); hash = fold(hash, a % b); } \
        hash = fold(hash, (T)(a & b) ^ (T)~(a | b)); hash = fold(hash, (a < b) + 2 * (a <= b) + 4 * (a == b)); \
        hash = fold(hash, (T)(a >> (j % (8 * sizeof(T))))); hash = fold(hash, (T)((T)(a << (j % (8 * sizeof(T) - 1))) ^ b)); } }
#define SIGNED(T) static void on_##T(void) { \
    T s[] = SAMPLES(T); \
    for (unsigned i = 0; i < sizeof s / sizeof *s; i++) for (unsigned j = 0; j < sizeof s / sizeof *s; j++) { \
        T a = s[i], b = s[j]; T r; \
        hash = fold(hash, __builtin_add_overflow(a, b, &r)); hash = fold(hash, r); \
        hash = fold(hash, __builtin_sub_overflow(a, b, &r)); hash = fold(hash, r); \
        hash = fold(hash, __builtin_mul_overflow(a, b, &r)); hash = fold(hash, r); \
        if (b && !(b == -1 && (long long)a == (long long)(1ull << (8 * sizeof(T) - 1)) ) && b != -1) { hash = fold(hash, a / b); hash = fold(hash, a % b); } \
        hash = fold(hash, (a < b) + 2 * (a <= b) + 4 * (a == b) + 8 * (a > 0 && b < 0)); \
        hash = fold(hash, a >> (j % (8 * sizeof(T)))); hash = fold(hash, (T)~a); } }
UNSIGNED(uint8_t) UNSIGNED(uint16_t) UNSIGNED(uint32_t) UNSIGNED(uint64_t)
SIGNED(int8_t) SIGNED(int16_t) SIGNED(int32_t) SIGNED(int64_t)

enum color { RED, GREEN = 5, BLUE = -3 };
struct bits { unsigned a : 3; int b : 5; unsigned long long c : 37; _Bool d : 1; signed char e : 7; } __attribute__((packed));

#ifdef __SIZEOF_INT128__
static void wide(void) {
    unsigned __int128 x = 1;
    __int128 y = -1;
    for (int i = 1; i < 60; i++) {
        x = x * 0x9e3779b97f4a7c15ull + i;
        y = (__int128)((unsigned __int128)y * 3 - (x >> 90));
        hash = fold(hash, (uint64_t)x); hash = fold(hash, (uint64_t)(x >> 64)); hash = fold(hash, (uint64_t)(y >> 60));
        hash = fold(hash, (uint64_t)(x % 1000003)); hash = fold(hash, (uint64_t)(y / (i * 77777777777ll)));
        hash = fold(hash, (x < (unsigned __int128)y) + 2 * (y < 0));
        if (i % 13 == 0) y = (__int128)x;
    }
    hash = fold(hash, (uint64_t)(double)(x >> 70));
}
#endif

static void digits_of_e(void) {
    enum { N = 60, LEN = 80 };
    unsigned a[LEN];
    for (int i = 0; i < LEN; i++) a[i] = 1;
    for (int n = 0; n < N; n++) {
        unsigned carry = 0;
        for (int i = LEN - 1; i >= 0; i--) { unsigned t = 10 * a[i] + carry; a[i] = t % (i + 2); carry = t / (i + 2); }
        hash = fold(hash, carry);
    }
}

int main(void) {
    on_uint8_t(); on_uint16_t(); on_uint32_t(); on_uint64_t(); on_int8_t(); on_int16_t(); on_int32_t(); on_int64_t();
    struct bits b;
    memset(&b, 0, sizeof b);
    enum color c = RED;
    for (int i = 0; i < 40; i++) {
        b.a += 3; b.b -= 5; b.c = b.c * 6364136223846793005ull + 1; b.d ^= i % 3 == 0; b.e = (signed char)(b.e + 9);
        c = c == RED ? GREEN : c == GREEN ? BLUE : RED;
        unsigned char raw[sizeof b];
        memcpy(raw, &b, sizeof b);
        for (unsigned j = 0; j < sizeof b; j++) hash = fold(hash, raw[j]);
        hash = fold(hash, b.a + b.b + b.e + c + (_Bool)(i & 2));
        unsigned x = 0x9e3779b9u * (i + 1);
        unsigned long long y = 0x9e3779b97f4a7c15ull * (i + 1);
        hash = fold(hash, __builtin_clz(x) + __builtin_ctz(x) * 3 + __builtin_popcount(x) * 5 + __builtin_parity(x) + __builtin_ffs(x >> 4));
        hash = fold(hash, __builtin_clzll(y) + __builtin_ctzll(y) * 3 + __builtin_popcountll(y) * 5);
        hash = fold(hash, __builtin_bswap32(x)); hash = fold(hash, __builtin_bswap64(y)); hash = fold(hash, __builtin_bswap16((unsigned short)x));
        hash = fold(hash, (x << (i & 31) | x >> (-i & 31))); hash = fold(hash, (char)x + (short)y);
    }
#ifdef __SIZEOF_INT128__
    wide();
#endif
    digits_of_e();
    report(hash);
}
