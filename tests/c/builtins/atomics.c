// Atomic operations in a program with a single thread.
#include "../verify.h"
#include <stdatomic.h>

int main(void) {
    _Atomic int a = 5;
    atomic_int b;
    atomic_init(&b, 1);
    a += 3;
    check(atomic_load(&a) == 8);
    check(atomic_fetch_add(&a, 2) == 8 && a == 10);
    check(atomic_exchange(&b, 7) == 1);
    int expected = 7;
    check(atomic_compare_exchange_strong(&b, &expected, 9) && b == 9);
    expected = 1;
    check(!atomic_compare_exchange_strong(&b, &expected, 2) && expected == 9);
    int x = __VERIFIER_nondet_schar();
    check(__sync_fetch_and_or(&x, 0) == x);
    int old = __atomic_fetch_sub(&x, 1, __ATOMIC_SEQ_CST);
    check(x == old - 1);
    atomic_fetch_max: (void)0;
    atomic_thread_fence(memory_order_seq_cst);
    wrong(__sync_add_and_fetch(&x, 10) != 0);
    return 0;
}
