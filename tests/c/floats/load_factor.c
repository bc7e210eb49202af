// A table whose size is a power of two, with a bound on its load, as in hash tables: few sizes, and no other floats.
#include "../verify.h"

static unsigned long max_load(double factor, unsigned long size) {
    unsigned long most = (unsigned long)(factor * (double)size);
    return most >= size ? size - 1 : most;
}

int main(void) {
    unsigned long size = __VERIFIER_nondet_ulong(), count = __VERIFIER_nondet_ulong();
    double factor = __VERIFIER_nondet_double();
    __VERIFIER_assume(size >= 2 && size <= 8 && (size & (size - 1)) == 0);
    __VERIFIER_assume(factor == 0.95 && count <= max_load(factor, size));
    unsigned long slot = __VERIFIER_nondet_ulong() % size;
    int used[16] = {0};
    used[slot * 2 % 16] = 1;
    if (count + 1 > max_load(factor, size)) {
        size *= 2;
        check(count + 1 <= max_load(factor, size));
        wrong(max_load(factor, size) != 15);
    }
    check(count < size && used[slot * 2] == 1);
    return 0;
}
