// A ring buffer against its specification.
#include "../verify.h"

static int ring[4];
static unsigned head, count;
static int push(int x) {
    if (count == 4)
        return 0;
    ring[(head + count++) & 3] = x;
    return 1;
}
static int pop(int *x) {
    if (!count)
        return 0;
    *x = ring[head];
    head = (head + 1) & 3;
    count--;
    return 1;
}

int main(void) {
    int next = 0, expected = 0, x;
    for (int i = 0; i < 6; i++) {
        if (__VERIFIER_nondet_bool()) {
            if (push(next))
                next++;
        } else if (pop(&x)) {
            check(x == expected);
            expected++;
        }
        check(count <= 4 && next - expected == (int)count);
    }
    wrong(next != 4 || expected != 2);
    return 0;
}
