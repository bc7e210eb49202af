// Labels as values: a threaded interpreter.
#include "../verify.h"

static int run(const unsigned char *code, int x) {
    static const void *const op[] = {&&halt, &&inc, &&dbl, &&neg};
    int acc = x;
    goto *op[*code];
inc:
    acc++;
    goto *op[*++code];
dbl:
    acc *= 2;
    goto *op[*++code];
neg:
    acc = -acc;
    goto *op[*++code];
halt:
    return acc;
}

int main(void) {
    signed char x = __VERIFIER_nondet_schar();
    unsigned char code[4];
    for (int i = 0; i < 3; i++)
        code[i] = __VERIFIER_nondet_uchar() & 3;
    code[3] = 0;
    check(run((unsigned char[]){1, 2, 3, 0}, 4) == -10);
    int r = run(code, x);
    check(r <= 1024 && r >= -1024);
    wrong(r != 508);
    return 0;
}
