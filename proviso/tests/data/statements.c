// Statements, calls, names and constants that a printer may easily change.
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int __VERIFIER_nondet_int(void);
extern void say(int what);

// Names that are macros of GNU C, keywords of C23, or used by the printer.
static int linux = 3, unix = 4, i386 = 5, nullptr = 6, constexpr = 7;
struct linux {
    int linux, typeof_unqual, bool;
};
static struct linux thing = {1, 2, 3};
static int proviso_udiv32(int x) { return x + 1; }
static int proviso_find = 9;
static int memcpy_(int x) { return x; }
static int kept(int n) {
    static int count = 10;
    return count += n;
}
static int kept_too(int n) {
    static int count = 20;
    return count -= n;
}

static double half(double x, int n) { return x / 2 + n; }
static double twice(double x, int n) { return x * 2 + n; }
static long whole(long x, int n) { return x * 3 + n; }
static float single(float x) { return x * 4; }
static int bits(int x) { return x + 1; }
static long double extended(long double x, float y) { return x + y; }
static long apply(void *f, int which) {
    return which ? (long)(((double (*)(double, int))f)(2.5, 1) * 4) : ((long (*)(long, int))f)(5, 1);
}

static long sum(int n, ...) {
    va_list list, again;
    va_start(list, n);
    va_copy(again, list);
    long s = 0;
    for (int i = 0; i < n; i++)
        s += va_arg(list, int) + (long)(va_arg(list, double) * 4) + va_arg(list, long long) + (long)(va_arg(list, long double) * 2);
    s += va_arg(again, int);
    va_end(list);
    va_end(again);
    return s;
}

static int jump(int n) {
    static void *const table[] = {&&zero, &&one, &&two};
    int s = 1;
    goto *table[(unsigned)n % 3];
zero:
    s *= 2;
one:
    s += 5;
two:
    return s;
}

static int choose(int n) {
    switch (n) {
    case INT_MIN ... -1:
        return 1;
    case 0 ... 1:
        n += 3;
    case 7:
        return n + 2;
    default:
        switch ((long long)n << 33) {
        case 2LL << 33:
            return 50;
        }
        return 9;
    }
}

static int arrays(int n) {
    int m = (n & 3) + 1;
    int one[m], two[m][m + 1], three[m][2][m];
    int(*rows)[m + 1] = two;
    typedef int row[m];
    row again;
    for (int i = 0; i < m; i++)
        again[i] = one[i] = rows[i][m] = three[i][1][m - 1] = i * 7;
    {
        char inner[m * 3];
        memset(inner, 'x', sizeof inner);
        one[0] += inner[m];
    }
    return one[m - 1] + two[m - 1][m] + three[m - 1][1][m - 1] + again[m - 1] + (int)sizeof two + (int)sizeof *three;
}
static int passed(int n, int (*a)[n], int b[n][2]) { return a[1][n - 1] + b[n - 1][1]; }

static unsigned char large[1 << 24];
static const int wide[] = L"w\x1234";
static const char text[] = "a\0b?\?/\"\\\xff";
static double numbers[] = {-0.0, 1.0 / 3, 4.9406564584124654e-324, 1.7976931348623157e308, 0x1p-1074, 123456789.123456789};

static int (*volatile pointer)(const char *, ...) = printf;

int main(void) {
    int n = __VERIFIER_nondet_int();
    say(linux + unix * 2 + i386 * 3 + nullptr * 4 + constexpr * 5 + thing.linux + thing.typeof_unqual * 2 + thing.bool * 3);
    say(proviso_udiv32(n) + proviso_find + memcpy_(2) + kept(n) + kept_too(n) + kept(1) + kept_too(1));
    double (*functions[])(double, int) = {half, twice};
    say(functions[n & 1](1.5, n) * 100);
    long (*other)(long, int) = n > 1000 ? 0 : whole;
    say(other(7, n) + apply(whole, 0) * 2 + apply(half, 1) * 3);
    float (*with_single)(float) = single;
    int (*with_bits)(int) = bits;
    long double (*with_extended)(long double, float) = extended;
    say(with_single(2.5f) + with_bits(5) * 2 + with_extended(1.5L, 2.25f) * 4);
    say(sum(2, 1, 2.5, 3LL, 4.5L, -5, -6.25, -7LL, -8.5L));
    say(jump(n) + choose(n) * 100 + choose(2) * 1000);
    say(arrays(n));
    int a[3][3] = {{1, 2, 3}, {4, 5, 6}}, b[3][2] = {{1, 2}, {3, 4}, {5, 6}};
    say(passed(3, a, b));
    large[n & 0xfff] = 7;
    say(large[n & 0xfff] + large[1 << 20] + wide[1] + text[2] + text[sizeof text - 2]);
    say((int)(1 / numbers[0] < 0) + (int)(numbers[1] * 3000) + (numbers[2] > 0) + (numbers[3] > 1e308) + (numbers[4] == numbers[2]));
    printf("%f %d %.3Lf %c %s %lld %g\n", 1.5, 3, 2.25L, 'x', "text", -5LL, n ? 1.0 : 2.5);
    pointer("%.2f %d\n", 0.25, n);
    unsigned u = n;
    say((n << (u & 31)) + (int)(u >> 3) + n / 7 + n % 7 + (int)(u / 7) + (n >> 2) + (signed char)(n * 37) + (short)(u * 777));
    long long l;
    say(__builtin_add_overflow(n, INT_MAX, &n));
#ifdef __SIZEOF_INT128__
    say(__builtin_mul_overflow(n * 3000000000LL, 4000000000LL, &l));
#endif
    say(__builtin_popcount(u) + (u ? __builtin_clz(u) + __builtin_ctz(u) : 0) + __builtin_bswap32(u));
    char *memory = malloc(10);
    snprintf(memory, 10, "%d-%s", n, "abcdefghijkl");
    say(strlen(memory) + memory[2] + strcmp(memory, "1"));
    free(memory);
    __asm__ volatile("" ::: "memory");
    do {
        u = u * 3 + 1;
        if (u % 5 == 0)
            continue;
        if (u & 64)
            break;
    } while (u % 11);
    say(({ int t = u & 0xff; t * 2; }) + (struct linux){1, 2, 3}.bool);
    puts("end");
    return n & 0x7f;
}
