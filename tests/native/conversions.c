/* Conversions of floats of every format to integers of every type, in and out of range, as in the machine code of
   clang -O0: for variables, expressions, compound assignments, bit-fields, arguments and results. */
#include "report.h"

static const double samples[] = {
    0.0, -0.0, 0.5, -0.5, -0.999, -1.0, 1.5, 10.5, -10.5, 99.9, -100.25,
    127.0, 127.9, 128.0, -128.0, -128.9, -129.0, 255.0, 255.9, 256.0, 260.5, -255.5, -256.0, -300.75, 511.5,
    32767.0, 32767.9, 32768.0, -32768.0, -32768.5, -32769.0, 65535.5, 65536.0, 65541.0, -65536.5, 65519.0, 70000.75,
    2147483647.0, 2147483647.5, 2147483648.0, -2147483648.0, -2147483648.5, -2147483649.0, 2147483904.0,
    4294967295.0, 4294967295.5, 4294967296.0, 4294967301.5, -4294967295.0, -4294967296.0, 6442450944.0, 1e10, -1e10,
    9223372036854774784.0, 9223372036854775808.0, -9223372036854775808.0, -9223372036854777856.0, 9223372036854777856.0,
    18446744073709549568.0, 18446744073709551616.0, 18446744073709555712.0, -18446744073709551616.0, 1e19, 3e19, -3e19,
    1e30, -1e30, 3.4e38, -3.4e38, 1e100, -1e100, 1e308, 5e-324, -5e-324,
};
enum { N = sizeof samples / sizeof *samples };

static struct { int a : 5; unsigned b : 3; signed char c : 7; unsigned long long d : 40; _Bool e : 1; } s;
static unsigned hash = 1;
static int not_by_x87;
static void add(unsigned long long x) { hash = fold(hash, x); }

#define PAIR(F, f, I, i) \
    static I f##_to_##i(F x) { return x; } \
    static void f##_##i(F x) { \
        if (not_by_x87 && sizeof(I) == 8 && (I)-1 > 0 && (sizeof(F) > 8 || sizeof(long) == 4)) return; \
        I variable = x, compound = 7, product = 100; \
        compound += x; product *= x; \
        add(variable); add(compound); add(product); add(f##_to_##i(x)); \
        add((long long)(I)x); add(1 + (I)(x + 1)); add((I)x == (I)1); add((I)x < 0); \
        add((double)(I)x == (double)x); add((I)x >> 3); add(((I)x) / 3); add((unsigned char)(I)x); \
    }
#define TO_ALL(F, f) \
    PAIR(F, f, char, c) PAIR(F, f, signed char, sc) PAIR(F, f, unsigned char, uc) PAIR(F, f, short, s) \
    PAIR(F, f, unsigned short, us) PAIR(F, f, int, i) PAIR(F, f, unsigned, u) PAIR(F, f, long, l) \
    PAIR(F, f, unsigned long, ul) PAIR(F, f, long long, ll) PAIR(F, f, unsigned long long, ull) PAIR(F, f, _Bool, b) \
    static void f##_all(F x) { \
        f##_c(x); f##_sc(x); f##_uc(x); f##_s(x); f##_us(x); f##_i(x); f##_u(x); f##_l(x); f##_ul(x); f##_ll(x); \
        f##_ull(x); f##_b(x); \
        s.a = x; s.b = x; s.c = x; s.e = x; \
        add(s.a); add(s.b); add(s.c); add(s.e); \
        s.a += x; s.b -= x; s.c *= x; \
        add(s.a); add(s.b); add(s.c); \
        if (!not_by_x87) { s.d = x; add(s.d); s.d += x; add(s.d); } \
    }
#ifdef __x86_64__
TO_ALL(_Float16, half)
#else
#define half_all(x) ((void)0)
#endif
TO_ALL(float, single)
TO_ALL(double, double)
TO_ALL(long double, x87)

static void all(long double x) {
    half_all((_Float16)(float)x); single_all((float)x); double_all((double)x); x87_all(x);
}

int main(void) {
    volatile double zero = 0;
    double infinity = 1 / zero, nan = infinity - infinity;
    for (int n = 0; n < N; n++) all(samples[n]);
    all(infinity); all(-infinity);
    /* Without conversions of NaN to unsigned 64-bit integers by the x87, for which clang's code varies. */
    not_by_x87 = 1;
    all(nan); all(-nan);
    not_by_x87 = 0;
    /* Values that differ only as long double. */
    long double power = 1;
    for (int n = 0; n <= 128; n++, power *= 2) {
        x87_all(power - 1); x87_all(power - 0.5L); x87_all(power + 0.5L); x87_all(power + 1);
        x87_all(-power + 1); x87_all(-power + 0.5L); x87_all(-power - 0.5L); x87_all(-power - 1);
        double_all((double)power - 0.5); double_all(-(double)power - 0.5); single_all((float)power); single_all(-(float)power);
    }
    report(hash);
}
