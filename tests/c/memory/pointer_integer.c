// Pointers survive conversion to integers and back.
#include "../verify.h"

int main(void) {
    int a[4] = {1, 2, 3, 4};
    unsigned long n = (unsigned long)&a[1];
    check(*(int *)n == 2);
    check(*(int *)(n + sizeof(int)) == 3);
    check((n & 3) == 0);
    check((unsigned long)&a[3] - (unsigned long)a == 12);
    int *tagged = (int *)((unsigned long)&a[2] | 1);
    check(*(int *)((unsigned long)tagged & ~1ul) == 3);
    check((void *)0 == 0 && !(int *)0);
    unsigned i = __VERIFIER_nondet_uint() & 3;
    wrong(*(int *)((unsigned long)a + 4ul * i) != 4);
    return 0;
}
