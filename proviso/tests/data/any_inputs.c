// Some inputs, the same for each SEED, and the error function: for programs that must not call it, whatever they read.
#include <stdio.h>
#include <stdlib.h>

void reach_error(void) {
    fprintf(stderr, "reach_error is called\n");
    exit(77);
}

void __VERIFIER_assume(int holds) {
    if (!holds)
        exit(0);
}

static int next(void) {
    static unsigned state = SEED;
    state = state * 1103515245 + 12345;
    return (state >> 16) % 5;
}

#define INPUT(type, name)                                                                                            \
    type __VERIFIER_nondet_##name(void) { return next(); }
INPUT(_Bool, bool)
INPUT(char, char)
INPUT(signed char, schar)
INPUT(unsigned char, uchar)
INPUT(short, short)
INPUT(unsigned short, ushort)
INPUT(int, int)
INPUT(unsigned, uint)
INPUT(long, long)
INPUT(unsigned long, ulong)
INPUT(long long, longlong)
INPUT(unsigned long long, ulonglong)
INPUT(float, float)
INPUT(double, double)
