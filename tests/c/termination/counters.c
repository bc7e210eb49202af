// Loops over one counter, up and down, of all widths; each ends for another reason.
// run: --property termination => TRUE
extern int __VERIFIER_nondet_int(void);
extern unsigned __VERIFIER_nondet_uint(void);
extern unsigned char __VERIFIER_nondet_uchar(void);
extern signed char __VERIFIER_nondet_char(void);

int main(void) {
    int x = __VERIFIER_nondet_int(), step = __VERIFIER_nondet_int();
    while (x > 0)
        x -= __VERIFIER_nondet_int() ? 1 : 2;
    for (int i = 0; i < x + 5; i++)
        step += i;
    // Wraps around to zero, which ends it.
    unsigned u = __VERIFIER_nondet_uint();
    while (u > 0)
        u++;
    unsigned char c = __VERIFIER_nondet_uchar();
    while (c != 7)
        c++;
    // Becomes negative.
    signed char s = __VERIFIER_nondet_char();
    while (s > 0)
        s = (signed char)(s + 1);
    do {
        step--;
    } while (step > 10);
    return 0;
}
