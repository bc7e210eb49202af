// A slice removes `free`, so the two objects may be equal in it. The whole program is proved instead, by invariants of
// a loop that is not in the slice. (Reduced from a random program; the code without effect makes the slice smaller.)
// run: => TRUE
#include <stdlib.h>
extern void reach_error(void);
extern void __VERIFIER_assume(int);
extern int __VERIFIER_nondet_int(void);
static int *g1;
static int f0(int k) {
    int here[4] = {1, 2, 3, 4};
    g1 = &here[k & 3];
    int sum = 0;
    for (int i = 0; i < 4; i++) {
        int fresh = 0;
    }
}
int main(void) {
    int in2 = __VERIFIER_nondet_int();
    __VERIFIER_assume(in2 >= 0 && in2 <= 5);
    int in6 = __VERIFIER_nondet_int();
    __VERIFIER_assume(in6 >= 1 && in6 <= 12);
    long long out0 = f0(in2) + (g1 == 0);
    int *p3 = malloc(sizeof(int) * 2);
    p3[0] = in2;
    p3[1] = 5;
    int *p4 = malloc(8);
    p4[0] = p3[0] + 1;
    p4[1] = 7;
    p3 = realloc(p3, 40);
    p3[9] = 1;
    long long out1 = p3[0] * 10 + p4[1];
    long long out2 = (p3 == p4) + (p3 != 0) * 2;
    double v7 = 0.0;
    int i8 = 0;
    while (v7 < 0.0 + 0.1 * in6 && i8 < 20) {
        v7 = v7 + 0.1;
        i8++;
    }
    long long out3 = i8;
    long long out4 = v7 == 0.0 + i8 * 0.1;
    long long out5 = (long long)(v7 * 1000);
    void (*report)(void) = reach_error;
    if (!(out2 - (long long)in2 <= 2))
        report();
}
