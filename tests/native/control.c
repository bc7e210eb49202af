/* Control flow: switch with fall-through, goto, computed goto, nested breaks, Duff's device, varargs, mutual
   recursion, function pointer tables, short circuits with effects, VLAs and alloca. */
#include "report.h"

static unsigned hash = 1;

static int duff(const char *from, char *to, int n) {
    int rounds = (n + 7) / 8, copied = 0;
    switch (n % 8) {
    case 0: do { *to++ = *from++; copied++;
    case 7:      *to++ = *from++; copied++;
    case 6:      *to++ = *from++; copied++;
    case 5:      *to++ = *from++; copied++;
    case 4:      *to++ = *from++; copied++;
    case 3:      *to++ = *from++; copied++;
    case 2:      *to++ = *from++; copied++;
    case 1:      *to++ = *from++; copied++;
            } while (--rounds > 0);
    }
    return copied;
}

static int classify(long long x) {
    switch (x) {
    case -5 ... -1: return 1;
    case 0: x += 2; /* falls through */
    case 7: return (int)x;
    case 1LL << 40: return 3;
    case 'a': case 'b': { while (1) { switch (x) { case 'a': x++; continue; case 'b': break; } break; } return (int)x; }
    default: if (x > 100) break; return 5;
    }
    return 6;
}

static int machine(const unsigned char *code) {
    static void *labels[] = {&&push, &&add, &&mul, &&dup, &&swap, &&jnz, &&dec, &&halt};
    int stack[32], sp = 0, pc = 0;
    goto *labels[code[pc++]];
push: stack[sp++] = code[pc++]; goto *labels[code[pc++]];
add: sp--; stack[sp - 1] += stack[sp]; goto *labels[code[pc++]];
mul: sp--; stack[sp - 1] = (int)((unsigned)stack[sp - 1] * (unsigned)stack[sp]); goto *labels[code[pc++]];
dup: stack[sp] = stack[sp - 1]; sp++; goto *labels[code[pc++]];
swap: { int t = stack[sp - 1]; stack[sp - 1] = stack[sp - 2]; stack[sp - 2] = t; } goto *labels[code[pc++]];
jnz: if (stack[sp - 1]) pc = code[pc]; else pc++; goto *labels[code[pc++]];
dec: stack[sp - 1]--; goto *labels[code[pc++]];
halt: return stack[0];
}

static long long total(const char *kinds, ...) {
    va_list list, copy;
    long long sum = 0;
    va_start(list, kinds);
    va_copy(copy, list);
    for (; *kinds; kinds++)
        switch (*kinds) {
        case 'i': sum = sum * 3 + va_arg(list, int); break;
        case 'l': sum = sum * 5 + va_arg(list, long long); break;
        case 'd': sum = sum * 7 + (long long)(va_arg(list, double) * 16); break;
        case 'p': sum = sum * 11 + *va_arg(list, int *); break;
        }
    sum += va_arg(copy, int);
    va_end(copy);
    va_end(list);
    return sum;
}

static int odd(int n);
static int even(int n) { return n == 0 ? 1 : odd(n - 1); }
static int odd(int n) { return n == 0 ? 0 : even(n - 1); }
static int ackermann(int m, int n) { return !m ? n + 1 : ackermann(m - 1, n ? ackermann(m, n - 1) : 1); }
static int effect(int x) { hash = fold(hash, x); return x; }

static int add(int a, int b) { return a + b; }
static int sub(int a, int b) { return a - b; }
static int (*pick(int i))(int, int) { return i & 1 ? add : sub; }

static int queens(int n, int row, unsigned columns, unsigned left, unsigned right) {
    int count = row == n;
    for (unsigned free = row < n ? ~(columns | left | right) & ((1u << n) - 1) : 0; free; free &= free - 1) {
        unsigned bit = free & -free;
        count += queens(n, row + 1, columns | bit, (left | bit) << 1, (right | bit) >> 1);
    }
    return count;
}

int main(void) {
    char from[40], to[40] = {0};
    for (int i = 0; i < 40; i++) from[i] = (char)(i * 7);
    for (int n = 1; n < 30; n += 3) hash = fold(hash, duff(from, to, n) + to[n - 1]);
    long long xs[] = {-6, -5, -1, 0, 7, 8, 1LL << 40, 'a', 'b', 'c', 101, 1LL << 33};
    for (unsigned i = 0; i < sizeof xs / sizeof *xs; i++) hash = fold(hash, classify(xs[i]));
    /* 3^5: the counter is in the bits above the accumulator. */
    const unsigned char power[] = {0, 1, 0, 5, 4, 0, 3, 2, 4, 6, 5, 4, 7};
    hash = fold(hash, machine(power));
    const unsigned char sums[] = {0, 9, 3, 3, 1, 1, 7};
    hash = fold(hash, machine(sums));
    int seven = 7;
    hash = fold(hash, total("ildpid", 3, -4000000000LL, 2.5, &seven, -9, -0.0625));
    hash = fold(hash, total("iiiiiiiilld", 1, 2, 3, 4, 5, 6, 7, 8, 9LL, 10LL, 1e3));
    hash = fold(hash, even(101) + 2 * odd(77));
    hash = fold(hash, ackermann(2, 9));
    hash = fold(hash, queens(6, 0, 0, 0, 0));
    for (int i = 0; i < 8; i++) {
        if ((effect(i & 1) && effect(i & 2)) || (effect(i & 4) && !effect(i ^ 5))) effect(100);
        int picked = pick(i)(i, 3) + (i > 3 ? effect(i) : i);
        hash = fold(hash, picked);
        int n = i + 1, matrix[n][2 * n];
        for (int j = 0; j < n; j++) for (int k = 0; k < 2 * n; k++) matrix[j][k] = j * k;
        hash = fold(hash, matrix[i][n] + (int)sizeof matrix);
        unsigned char *block = __builtin_alloca(n);
        block[i] = i * 50;
        hash = fold(hash, block[i]);
    }
    for (int i = 0; i < 5; i++) {
        for (int j = 0;; j++) {
            if (j == 3) goto next;
            if (i + j == 5) goto out;
            hash = fold(hash, i * j);
        }
    next:;
    }
out:
    report(hash);
}
