// The sum of ten tenths is not one.
#include "../verify.h"

int main(void) {
    double sum = 0.0;
    int steps = 0;
    for (double x = 0.0; x < 1.0; x += 0.1) {
        sum += x;
        steps++;
    }
    check(steps == 11);
    unsigned char n = __VERIFIER_nondet_uchar() & 3;
    float acc = 0.0f;
    for (unsigned i = 0; i < n; i++)
        acc += 0.25f;
    check(acc * 4.0f == (float)n);
    wrong(steps == 10 || n != 3);
    return 0;
}
