// Each iteration has its own object; shadowing hides.
#include "../verify.h"

int main(void) {
    int x = 1;
    {
        int x = 2;
        check(x == 2);
        x = 3;
    }
    check(x == 1);
    int sum = 0;
    for (int i = 0; i < 3; i++) {
        int buffer[2] = {i, i};
        int *p = buffer;
        p[1]++;
        sum += buffer[0] + buffer[1];
    }
    check(sum == 9);
    wrong(__VERIFIER_nondet_int() != sum);
    return 0;
}
