// `assert` without its header is a function that no library has. It is treated as the assertion.
int __VERIFIER_nondet_int(void);

int main(void) {
    int x = __VERIFIER_nondet_int();
    long wide = (long)x << 33;
    assert(x / 2 != 0x7fffffff);
    assert(wide == 0 || (wide >> 33) == x || x > 0x3fffffff || x < -0x40000000);
#ifdef BUG
    assert(wide != 77l << 33); // wrong
#endif
    return 0;
}
