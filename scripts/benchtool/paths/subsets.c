/* All subsets of N weights. */
extern _Bool __VERIFIER_nondet_bool(void);
extern void reach_error(void);
#ifndef N
#define N 12
#endif

int main(void) {
    unsigned weight = 0, taken = 0;
    for (unsigned i = 0; i < N; i++)
        if (__VERIFIER_nondet_bool()) {
            weight += 3 * i * i + 7;
            taken |= 1u << i;
        }
    unsigned again = 0;
    for (unsigned i = 0; i < N; i++)
        if (taken >> i & 1)
            again += 3 * i * i + 7;
    if (again != weight)
        reach_error();
    return 0;
}
