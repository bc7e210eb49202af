/* All programs that run both natively and in the interpreter include this file. */
#ifndef REPORT_H
#define REPORT_H
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Reports all 32 bits of the result of the program. The parent of a process sees only eight bits of its status. */
static inline void report(unsigned result) {
#ifdef NATIVE
    printf("result %u\n", result);
#endif
    exit((int)result);
}

/* Folds a value into a running hash (FNV-1a, byte by byte). */
static inline unsigned fold(unsigned hash, unsigned long long value) {
    for (int i = 0; i < 8; i++) hash = (hash ^ (unsigned)(value >> 8 * i & 255)) * 16777619u;
    return hash;
}

#ifdef CSMITH
/* Programs of csmith end with printf("checksum = %X\n", crc). */
static int report_checksum(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    report(va_arg(arguments, unsigned));
    va_end(arguments);
    return 0;
}
#define printf report_checksum

/* csmith with --builtins ignores that these functions are undefined for 0, and that one needs SSE 4.2. */
#define __builtin_clz(x) __builtin_clz((x) | 1u)
#define __builtin_clzl(x) __builtin_clzl((x) | 1ul)
#define __builtin_clzll(x) __builtin_clzll((x) | 1ull)
#define __builtin_clzs(x) __builtin_clzs((x) | 1)
#define __builtin_ctz(x) __builtin_ctz((x) | 1u << 31)
#define __builtin_ctzl(x) __builtin_ctzl((x) | 1ul << (8 * sizeof(long) - 1))
#define __builtin_ctzll(x) __builtin_ctzll((x) | 1ull << 63)
#define __builtin_ctzs(x) __builtin_ctzs((x) | 0x8000)
#define __builtin_ia32_crc32qi(x, y) ((x) * 33u ^ (y))
#endif
#endif
