// TRUE: the sum 1 + ... + n equals the closed form, for every n that is read.
extern unsigned char __VERIFIER_nondet_uchar(void);
extern void reach_error(void);

int main(void) {
    unsigned n = __VERIFIER_nondet_uchar() % 8;
    unsigned sum = 0;
    for (unsigned i = 1; i <= n; i++)
        sum += i;
    if (2 * sum != n * (n + 1))
        reach_error();
    return 0;
}
