#include "../verify.h"

extern void klee_make_symbolic(void *, __SIZE_TYPE__, const char *);
extern void klee_assume(__UINTPTR_TYPE__);
extern int klee_range(int, int, const char *);

/* A program that was written for KLEE. */
int main(void) {
    int n, a[4];
    klee_make_symbolic(&n, sizeof n, "n");
    klee_make_symbolic(a, sizeof a, "a");
    klee_assume(n >= 1 && n <= 1000000);
    int i = klee_range(0, 4, "i");
    klee_assume(a[i] > n);
    check(a[i] >= 2);
    wrong(a[i] >= 3); // wrong
    check(n / 2 + 1 > 0 && i < 4);
    return 0;
}
