// TRUE where long has 64 bits; with 32 bits the product wraps around.
extern unsigned short __VERIFIER_nondet_ushort(void);
extern void reach_error(void);

int main(void) {
    unsigned long a = __VERIFIER_nondet_ushort();
    unsigned long b = 65537;
    if (a != 0 && a * b * 2 < b)
        reach_error();
    return 0;
}
