/* float, double and long double; conversions; comparisons with NaN; bit patterns. */
#include "report.h"
#include <string.h>

static unsigned f32(unsigned hash, float x) { unsigned u; memcpy(&u, &x, 4); return fold(hash, u); }
static unsigned f64(unsigned hash, double x) { unsigned long long u; memcpy(&u, &x, 8); return fold(hash, u); }
static unsigned f80(unsigned hash, long double x) {
    unsigned char bytes[sizeof x] = {0};
    memcpy(bytes, &x, 10);
    for (int i = 0; i < 10; i++) hash = fold(hash, bytes[i]);
    return hash;
}

static double newton(double x) { double r = x > 1 ? x : 1; for (int i = 0; i < 60; i++) r = (r + x / r) / 2; return r; }
static long double series(long double x) { long double s = 1, t = 1; for (int i = 1; i < 40; i++) { t *= x / i; s += t; } return s; }

int main(void) {
    unsigned hash = 1;
    double samples[] = {0.0, -0.0, 1.0, -1.5, 0.1, 1e-310, 5e-324, 1.7976931348623157e308, 3.4e38, 123456789.125,
                        -2147483648.5, 4294967295.75, 9.2e18, 1.8e19, 1e-45, 16777217.0};
    volatile double zero = 0;
    enum { N = sizeof samples / sizeof *samples };
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double a = samples[i], b = samples[j];
            float x = (float)a, y = (float)b;
            long double u = a, v = b;
            hash = f64(hash, a + b); hash = f64(hash, a - b); hash = f64(hash, a * b); hash = f64(hash, a / (b + (b == 0)));
            hash = f32(hash, x + y); hash = f32(hash, x - y); hash = f32(hash, x * y); hash = f32(hash, x / (y + (y == 0)));
            hash = f80(hash, u + v); hash = f80(hash, u - v); hash = f80(hash, u * v); hash = f80(hash, u / (v + (v == 0)));
            hash = fold(hash, (a < b) | (a <= b) << 1 | (x > y) << 2 | (u >= v) << 3 | (a == b) << 4 | (x != y) << 5);
            hash = f80(hash, (long double)(a * b)); hash = f64(hash, (double)(u / 3)); hash = f32(hash, (float)(v * 7));
        }
    for (int i = 0; i < N; i++) {
        double a = samples[i], inf = 1 / zero, nan = inf - inf;
        hash = fold(hash, (a < nan) | (a >= nan) << 1 | (a != nan) << 2 | (nan == nan) << 3 | (a < inf) << 4 | !(a > -inf) << 5);
        if (a > -2e9 && a < 2e9) { hash = fold(hash, (int)a); hash = fold(hash, (signed char)(int)a); }
        if (a > -1 && a < 4e9) hash = fold(hash, (unsigned)a);
        if (a > -9e18 && a < 9e18) { hash = fold(hash, (long long)a); hash = fold(hash, (long long)(float)a); hash = fold(hash, (long long)(long double)a); }
        if (a > -1 && a < 1.7e19) hash = fold(hash, (unsigned long long)a);
        hash = f64(hash, newton(a < 0 ? -a : a));
        hash = f80(hash, series(a > 100 || a < -100 ? 0.5L : a));
    }
    long long integers[] = {0, 1, -1, 16777217, 33554435, 9007199254740993, -9007199254740993, 9223372036854775807, -9223372036854775807 - 1};
    for (unsigned i = 0; i < sizeof integers / sizeof *integers; i++) {
        long long n = integers[i];
        hash = f32(hash, n); hash = f64(hash, n); hash = f80(hash, n);
        hash = f32(hash, (unsigned long long)n); hash = f64(hash, (unsigned long long)n); hash = f80(hash, (unsigned long long)n);
        hash = f32(hash, (int)n); hash = f64(hash, (short)n); hash = f64(hash, (unsigned)n);
    }
    /* The logistic map is chaotic, so one wrong bit changes the result. */
    double x = 0.3; float y = 0.3f; long double z = 0.3L;
    for (int i = 0; i < 2000; i++) { x = 3.99 * x * (1 - x); y = 3.99f * y * (1 - y); z = 3.99L * z * (1 - z); }
    hash = f64(hash, x); hash = f32(hash, y); hash = f80(hash, z);
    report(hash);
}
