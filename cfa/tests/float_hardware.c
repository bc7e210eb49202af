// Performs floating-point operations on the machine and with its C library, for the test float_hardware.rs.
// Each request on standard input is four 16-byte fields: {operation, format, second format, signed, integer
// width, rounding mode} as bytes, then three operands. The answer is one 16-byte field, zero-padded.

#include <fenv.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

typedef unsigned char byte;
typedef __float128 quad;
typedef _Float16 half;
typedef __int128 i128;
typedef unsigned __int128 u128;

quad sqrtf128(quad), floorf128(quad), ceilf128(quad), truncf128(quad), rintf128(quad), roundf128(quad);
quad fmodf128(quad, quad), fminf128(quad, quad), fmaxf128(quad, quad), fmaf128(quad, quad, quad), fabsf128(quad);

#define HALF_1(name) static half name##h(half a) { return (half)name((double)a); }
HALF_1(sqrt) HALF_1(floor) HALF_1(ceil) HALF_1(trunc) HALF_1(rint) HALF_1(round) HALF_1(fabs)
static half fmodh(half a, half b) { return (half)fmod(a, b); }
static half fminh(half a, half b) { return (half)fmin(a, b); }
static half fmaxh(half a, half b) { return (half)fmax(a, b); }
// The product of two half floats and its sum with a third are exact in a long double, except for
// distant exponents. A quad is wide enough in all cases.
static half fmah(half a, half b, half c) { return (half)((quad)a * (quad)b + (quad)c); }

enum { NEG, ABS, SQRT, FLOOR, CEIL, TRUNC, RINT, ROUND, ADD, SUB, MUL, DIV, REM, MIN, MAX, FMA, EQ, LT, LE, CONVERT, FROM_INT, TO_INT };

#define OPERATIONS(T, suffix)                                          \
    static T operation_##suffix(int op, T a, T b, T c) {               \
        switch (op) {                                                  \
        case NEG: return -a;                                           \
        case ABS: return fabs##suffix(a);                              \
        case SQRT: return sqrt##suffix(a);                             \
        case FLOOR: return floor##suffix(a);                           \
        case CEIL: return ceil##suffix(a);                             \
        case TRUNC: return trunc##suffix(a);                           \
        case RINT: return rint##suffix(a);                             \
        case ROUND: return round##suffix(a);                           \
        case ADD: return a + b;                                        \
        case SUB: return a - b;                                        \
        case MUL: return a * b;                                        \
        case DIV: return a / b;                                        \
        case REM: return fmod##suffix(a, b);                           \
        case MIN: return fmin##suffix(a, b);                           \
        case MAX: return fmax##suffix(a, b);                           \
        default: return fma##suffix(a, b, c);                          \
        }                                                              \
    }                                                                  \
    static int compare_##suffix(int op, T a, T b) {                    \
        return op == EQ ? a == b : op == LT ? a < b : a <= b;          \
    }

#define sqrtd sqrt
#define floord floor
#define ceild ceil
#define truncd trunc
#define rintd rint
#define roundd round
#define fabsd fabs
#define fmodd fmod
#define fmind fmin
#define fmaxd fmax
#define fmad fma

OPERATIONS(half, h)
OPERATIONS(float, f)
OPERATIONS(double, d)
OPERATIONS(long double, l)
OPERATIONS(quad, f128)

static i128 sign_extend(u128 v, int width) { return (i128)(v << (128 - width)) >> (128 - width); }
static u128 zero_extend(u128 v, int width) { return v << (128 - width) >> (128 - width); }

// The conversion instructions differ by width, so use the type itself.
#define FROM_INT_AS(T, result) \
    do { \
        T value_; \
        if (is_signed) value_ = width == 32 ? (T)(int)integer : width == 64 ? (T)(long)integer : (T)sign_extend(integer, width); \
        else value_ = width == 32 ? (T)(unsigned)integer : width == 64 ? (T)(unsigned long)integer : (T)zero_extend(integer, width); \
        memcpy(result, &value_, sizeof value_ > 10 && sizeof(T) == sizeof(long double) && is_x87 ? 10 : sizeof value_); \
    } while (0)

#define TO_INT_FROM(x, result) \
    do { \
        u128 value_; \
        if (is_signed) value_ = width == 32 ? (u128)(int)(x) : width == 64 ? (u128)(long)(x) : (u128)(i128)(x); \
        else value_ = width == 32 ? (u128)(unsigned)(x) : width == 64 ? (u128)(unsigned long)(x) : (u128)(x); \
        memcpy(result, &value_, width / 8); \
    } while (0)

#define WITH(T, suffix, size) \
    do { \
        T a = 0, b = 0, c = 0; \
        memcpy(&a, in[1], size); memcpy(&b, in[2], size); memcpy(&c, in[3], size); \
        if (op <= FMA) { T r = operation_##suffix(op, a, b, c); memcpy(out, &r, size); } \
        else if (op <= LE) out[0] = compare_##suffix(op, a, b); \
        else if (op == CONVERT) { \
            switch (to) { \
            case 0: { half r = (half)a; memcpy(out, &r, 2); break; } \
            case 2: { float r = (float)a; memcpy(out, &r, 4); break; } \
            case 3: { double r = (double)a; memcpy(out, &r, 8); break; } \
            case 4: { long double r = (long double)a; memcpy(out, &r, 10); break; } \
            case 5: { quad r = (quad)a; memcpy(out, &r, 16); break; } \
            } \
        } else if (op == TO_INT) TO_INT_FROM(a, out); \
        else FROM_INT_AS(T, out); \
    } while (0)

int main(void) {
    static byte in[4][16];
    while (fread(in, 1, sizeof in, stdin) == sizeof in) {
        int op = in[0][0], format = in[0][1], to = in[0][2], is_signed = in[0][3], width = in[0][4];
        int is_x87 = format == 4;
        byte out[16] = {0};
        u128 integer;
        memcpy(&integer, in[1], 16);
        // The numbers of the modes on x86.
        fesetround(in[0][5] << 10);
        switch (format) {
        case 0: WITH(half, h, 2); break;
        case 2: WITH(float, f, 4); break;
        case 3: WITH(double, d, 8); break;
        case 4: WITH(long double, l, 10); break;
        case 5: WITH(quad, f128, 16); break;
        }
        fesetround(FE_TONEAREST);
        fwrite(out, 1, sizeof out, stdout);
    }
    return 0;
}
