// Conversions that lose bits are rounded in the mode.
#include "../verify.h"
#include <fenv.h>
#include <float.h>

static int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
static int numbers[] = {1, 2, 3, 0};

int main(void) {
    unsigned k = __VERIFIER_nondet_uint() % 4;
    fesetround(modes[k]);
    check(FLT_ROUNDS == numbers[k]);
    int i = __VERIFIER_nondet_int();
    __VERIFIER_assume(i > 16777216 && i < 33554432 && i % 2 != 0);
    float f = i;
    switch (modes[k]) {
    case FE_TONEAREST:
        check(f == i + 1 || f == i - 1);
        break;
    case FE_UPWARD:
        check(f == i + 1);
        break;
    default:
        check(f == i - 1);
    }
    double wide = 1.0000000001L + i * 0.0L;
    float narrow = wide;
    check(narrow == 1 || (modes[k] == FE_UPWARD && narrow == 1 + FLT_EPSILON));
    // An exact conversion is the same in every mode.
    check((double)i == i && (int)2.9 == 2 && (int)-2.9 == -2 && (long long)(long double)i == i);
    long n = 9007199254740993;
    double d = n;
    wrong(d == 9007199254740992.0);
    return 0;
}
